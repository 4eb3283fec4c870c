% exit: 1
function [] = __kernel__ double(x : vec, y : vec, pos : int)
    assert(x[pos] > 0, "x must be positive")
    y[pos] = 2*x[pos]
end
y = zeros(1,4)
parallel_do(4, [1,2,0,4], y, double)
exit(0)
