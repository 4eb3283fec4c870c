% Type parameters for sizes, vec(N) and mat(M,N), in kernels as on the host.
function y = __device__ tr[N : int](a : mat(N,N))
    y = 0.0
    for i=0..N-1
        y += a[i,i]
    end
end
function y = __device__ mulv[M : int, N : int](a : mat(M,N), x : vec(N))
    y = zeros(M)
    for i = 0..M-1
        for j = 0..N-1
            y[i] += a[i,j]*x[j]
        end
    end
end
function y = __device__ dotp[N](a : vec(N), b : vec(N))
    y = sum(a.*b)
end
function y = __device__ both[T, N : int](a : vec[T](N))
    z : vec[T](N) = 2*a
    y = z[N-1]
end
function [] = __kernel__ k(y : vec, x : vec, pos : int)
    y[0] = tr([[1,2],[3,4]]) + tr([[1,2,3],[3,4,5],[5,6,7]])
    v = mulv([[1,2,3],[4,5,6]], [1,0,1])
    y[1] = v[0]
    y[2] = v[1]
    y[3] = dotp([1,2,3],[4,5,6])
    y[4] = both([1,2,4])
    y[5] = both([1.5,2.5])
end
y=zeros(6)
parallel_do(1,y,[1,2,3],k)
print y
print tr([[1,2],[3,4]]), " ", mulv([[1,2,3],[4,5,6]], [1,0,1]), " ", dotp([1,2,3],[4,5,6]), " ", both([1,2,4]), " ", both([1.5,2.5])
function [] = __kernel__ whole[N : int](x : vec(N), m : mat(N,N), y : vec, pos : int)
    for i = 0..N-1
        y[pos] += x[i]*m[i,pos]
    end
end
y = zeros(3)
parallel_do(3, [1,2,3], [[1,2,3],[4,5,6],[7,8,9]], y, whole)
print y
function [] = __kernel__ bad(y : vec, pos : int)
    y[pos] = dotp([1,2,3],[4,5])
end
try
    parallel_do(1, y, bad)
catch e
    print e.message
end
try
    parallel_do(3, [1,2,3,4], [[1,2,3],[4,5,6],[7,8,9]], y, whole)
catch e
    print e.message
end
