function [] = __kernel__ k(y : mat, pos : int)
    v = zeros(4)
    for i = 0..3
        v[i] = pos*i
    end
    w = [v[3], v[2], v[1]]
    w[1] += 0.5
    t = uninit(size(w))
    t[0] = w[2]; t[1] = w[1]; t[2] = w[0]
    y[pos,0..2] = t
end
y = zeros(2,3)
parallel_do(2, y, k)
print y
function y = __device__ put(v, k, n)
    y = copy(v)
    y[k] = n
end
function [] = __kernel__ given(x, y : vec, z : cvec, pos : int)
    y[0..2] = put([1,2,3], x[pos], 7)
    z[0..1] = put([1,complex(2,5)], x[pos]-1, 8)
end
y = zeros(3)
z = czeros(2)
parallel_do(1, [1], y, z, given)
print y, z
function [] = __kernel__ masked(x : vec[uint8], y, n : int, pos : int)
    v = x[0..1]
    y[0..1] = not(v)
    y[2..3] = or(v, n)
end
y = zeros(4)
parallel_do(1, uint8([200,1]), y, -1, masked)
print y
try
    parallel_do(1, uint8([200,1]), y, 300, masked)
catch e
    print e
end
