% exit: 1
% A function that is chosen by its arguments reads them, and does not swallow their error.
function [] = __kernel__ double(x : vec, y : vec, pos : int)
    assert(x[pos] > 0, "x must be positive")
    y[pos] = 2*x[pos]
end
function y = kind(x : vec[int16])
    y = "whole"
end
function y = kind(x : string)
    y = "text"
end
function y = kind(x)
    y = "anything"
end
y = zeros(1,4)
parallel_do(4, [1,2,0,4], y, double)
k = kind(y)
