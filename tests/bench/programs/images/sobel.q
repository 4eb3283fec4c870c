% The length of the gradient, with a kernel of 3x3 for each direction
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function [] = __kernel__ gradient(x : mat'clamped, y : mat, pos : ivec2)
    dy = x[pos+[1,-1]] + 2*x[pos+[1,0]] + x[pos+[1,1]] - x[pos+[-1,-1]] - 2*x[pos+[-1,0]] - x[pos+[-1,1]]
    dx = x[pos+[-1,1]] + 2*x[pos+[0,1]] + x[pos+[1,1]] - x[pos+[-1,-1]] - 2*x[pos+[0,-1]] - x[pos+[1,-1]]
    y[pos] = sqrt(dx^2 + dy^2)
end
function y = sobel(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, gradient)
end
