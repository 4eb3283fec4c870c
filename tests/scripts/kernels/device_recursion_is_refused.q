% exit: 1
function y = __device__ f(x)
    y = x < 1 ? 0 : f(x-1)
end
function [] = __kernel__ k(y : vec, pos : int)
    y[pos] = f(pos)
end
parallel_do(2, zeros(2), k)
