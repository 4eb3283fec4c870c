% Functions of complex arrays in kernels against the host; functions of square matrices refuse others.
function at = __device__ put(y, at : int, v)
    for i = 0..size(v,0)-1
        for j = 0..size(v,1)-1
            y[at] = v[i,j]
            at += 1
        end
    end
end
function [m, v] = __device__ given(x)
    m = [[x[0],x[1],x[2]],[conj(x[1]),x[3],x[4]],[conj(x[2]),conj(x[4]),x[5]]]
    v = [x[1],x[2],x[4],x[5]]
end
function at = __device__ apply(m, v, y)
    at = put(y, 0, chol(m))
    at = put(y, at, chol(m - [[0,0,0],[m[0,1],0,0],[m[0,2],m[1,2],0]]))   % only the upper half counts
    at = put(y, at, [var(m), std(v), var(v)])
    at = put(y, at, var(m, 0))
    at = put(y, at, std(m, 1, 0))
    at = put(y, at, solve(m, [[v[0]],[v[1]],[v[2]]]))
    at = put(y, at, conv(v, [v[0],v[1]]))
    at = put(y, at, kron([v[0],v[1]], [v[2],v[3]]))
    at = put(y, at, [polyval(v, v[1]), dotprod(v, [v[1],v[0],v[3],v[2]]), det(m), trace(m), mean(v)])
    [l, u, p] = lu(m)
    at = put(y, put(y, put(y, at, l), u), p)
    at = put(y, at, inv(m))
end
function [] = __kernel__ run(x, y, pos)
    [m, v] = given(x)
    apply(m, v, y)
end
x = [4+0i,1+2i,0.5-1i,5+0i,1i,7+0i]
y = czeros(160)
parallel_do(1, x, y, run)
h = czeros(160)
m = [[x[0],x[1],x[2]],[conj(x[1]),x[3],x[4]],[conj(x[2]),conj(x[4]),x[5]]]
n = apply(m, [x[1],x[2],x[4],x[5]], h)
print n, " values, difference small: ", max(abs(y - h)) < 1e-4

det_of = __kernel__ (y, pos) -> y[0] = det([y[0],y[1]])
trace_of = __kernel__ (y, pos) -> y[0] = trace([y[0],y[1]])
chol_of = __kernel__ (y, pos) -> y[0] = sum(chol([y[0],y[1]]))
symeig_of = __kernel__ (y, pos) -> y[0] = sum(symeig([y[0],y[1]]))
lu_of = __kernel__ (y, pos) -> y[0] = sum(lu([[y[0],y[1]],[y[1],y[0]]]))
for k = {det_of, trace_of, chol_of, symeig_of, lu_of}
    try
        parallel_do(1, ones(2), k)
    catch e
        print e.message
    end
end
