% The derivative of a kernel reads and writes at the indices that the kernel reads, by the declared access mode.
function y = __device__ typed(x : vec, i : int)
    y = x[i]
end
function y = __device__ untyped(x, i : int)
    y = x[i]
end
function [] = __kernel__ ends(x : vec'circular, y : mat, pos : int)
    y[0,pos] = typed(x, pos + 2)^2
    y[1,pos] = untyped(x, pos + 2)^2
end
function y = both(x)
    z = zeros(2,4)
    parallel_do(4, x, z, ends)
    y = sum(z[0,:] + 10*z[1,:])
end
print grad(both, [1,2,3,4])
[_, d] = jvp(both, [1,2,3,4], [1,1,1,1])
print d
