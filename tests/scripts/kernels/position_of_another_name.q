% exit: 1
function [] = __kernel__ f(x : vec, y : vec, p : int)
    y[p] = x[p]
end
x = zeros(4)
parallel_do(4, x, x, f)
