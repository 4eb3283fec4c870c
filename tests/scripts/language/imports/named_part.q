% part
import "named_inner.q"
scale = 100 
total = zeros(3)
type point : mutable class
    x : scalar
    y : scalar
end
type color : enum
    red
    green = 4
end
function y = area(r, k = 2)
    y = r*k*scale
end
function y = area(s : string)
    y = "string " + s
end
function y = sin(x)
    y = "own sin"
end
function [] = __kernel__ twice(x : vec, y : vec, pos : int)
    y[pos] = 2*x[pos]
end
function y = __device__ sq(x)
    y = x*x
end
function [] = count()
    total[0] += 1
end
function y = length2(p : point)
    y = p.x^2 + p.y^2
end
