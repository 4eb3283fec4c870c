import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function [] = __kernel__ blur(x : mat'mirror, y : mat, r : int, pos : ivec2)
    total = 0.0
    for m = -r..r
        for n = -r..r
            total += x[pos + [m,n]]
        end
    end
    y[pos] = total/(2*r+1)^2
end
function y = box_blur(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, 3, blur)
end
