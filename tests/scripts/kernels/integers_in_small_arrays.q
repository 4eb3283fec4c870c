% Functions of small arrays of integers in kernels have the values of the host: sums do not saturate, and negating the
% smallest integer, or an unsigned one, decides nothing.
% devices: ref cpu
function [s, p, d, e, m, i] = __device__ measures(a, b)
    s = cumsum(a)
    p = cumprod(a)
    d = sort(b, "descend")
    e = sort(uint64([0,5,3]), "descend")
    [m, i] = max(b)
end
function [] = __kernel__ in_kernel(y, z : vec[int64], pos : int)
    least = -int64(9223372036854775807) - int64(1)
    [s, p, d, e, m, i] = measures(uint8([200,100]), [int64(5),least,int64(7)])
    y[0] = s[1]
    y[1] = p[1]
    y[2] = i
    for k = 0..2
        z[k] = d[k]
        z[k+3] = e[k]
    end
    z[6] = m
end
y = zeros(3)
z = vec[int64](7)
parallel_do(1, y, z, in_kernel)
print y, z
least = -int64(9223372036854775807) - int64(1)
[s, p, d, e, m, i] = measures(uint8([200,100]), int64([5,least,7]))
print [s[1],p[1],i], d, e, m
function [] = __kernel__ variances(y, pos)
    y[pos,0] = sum(var([[1,2.0]], 1, 2))
    y[pos,1] = sum(var([[3.0]], 1, 1))
    y[pos,2] = sum(var([[1,2.0]], 1, 1))
end
v = zeros(1,3)
parallel_do(1, v, variances)
print v, var([[1,2]],1,2), var([[3]],1,1), var([[1,2]],1,1)
