% exit: 1
% No statement reads a result of the failed launch; its error precedes the error of a later statement.
function [] = __kernel__ double(x : vec, y : vec, pos : int)
    assert(x[pos] > 0, "x must be positive")
    y[pos] = 2*x[pos]
end
y = zeros(1,4)
parallel_do(4, [1,2,0,4], y, double)
error("nobody gets here")
