% An image 2.5 times as large, with bilinear interpolation
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function [] = __kernel__ interpolate(x : mat'clamped, y : mat, scale : scalar, pos : ivec2)
    p = pos/scale
    i = floor(p)
    d = p - i
    a = x[i[0],i[1]]*(1 - d[1]) + x[i[0],i[1]+1]*d[1]
    b = x[i[0]+1,i[1]]*(1 - d[1]) + x[i[0]+1,i[1]+1]*d[1]
    y[pos] = a*(1 - d[0]) + b*d[0]
end
function y = zoom(x)
    y = zeros(floor(2.5*size(x)))
    parallel_do(size(y), x, y, 2.5, interpolate)
end
