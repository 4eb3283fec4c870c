% options: --precision 64
% tolerance: 1e-5
% gradients of kernels that take cells of arrays, and of objects
import "check.q"
function [] = __kernel__ cells(x : vec[vec2], y : vec[vec2], pos : int)
    y[pos][0] = x[pos][0]*x[pos][1]
    y[pos][1] = y[pos][1] + x[pos][0]^3
end
function s = celled(x)
  c = {x[0..1], x[2..3]}
  y = {[1,2]*x[1], [3,4]}
  parallel_do(2, c, y, cells)
  s = sum(y[0].*[1,2]) + sum(y[1].*[3,4])
end
check("cells of arrays", celled, wave(4))
check("of their gradient", x -> sum(grad(celled, x).^2), wave(4))
type ball : class
    radius : scalar
    centre : vec
end
function [] = __kernel__ volumes(b : vec[ball], y : vec, pos : int)
    y[pos] = b[pos].radius^3 + b[pos].centre[0]*b[pos].centre[1]
end
function s = balls(x)
  l = {ball(radius:=x[0], centre:=x[1..2]), ball(radius:=x[3], centre:=[x[2],x[0]])}
  y = zeros(2)
  parallel_do(2, l, y, volumes)
  s = sum(y.*[1,2])
end
check("cells of objects", balls, wave(4))
