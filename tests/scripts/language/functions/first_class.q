function y = twice(f, x)
    y = f(f(x))
end
print twice(x -> x*3, 2)
function [a, b] = pair(k)
    a = x -> x + k
    b = x -> x - k
end
[up, down] = pair(5)
print up(1), " ", down(1)
fs = {x -> x+1, sin, twice}
print fs[0](41), " ", fs[1](0)
print twice(abs, -3)
compose = (f, g) -> (x -> f(g(x)))
print compose(x -> x+1, x -> x*10)(4)
