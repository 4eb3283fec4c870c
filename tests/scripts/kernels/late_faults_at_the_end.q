% exit: 1
% Nobody reads a result of the launch that failed; the error counts before that of a later statement.
function [] = __kernel__ double(x : vec, y : vec, pos : int)
    assert(x[pos] > 0, "x must be positive")
    y[pos] = 2*x[pos]
end
y = zeros(1,4)
parallel_do(4, [1,2,0,4], y, double)
error("nobody gets here")
