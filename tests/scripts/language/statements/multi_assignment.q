[a, b] = [1, 2]
print a, b
[a, b] = {b, a}
print a, b
o = object()
[o.x, o.y] = [true, false]
print o.x, o.y
v = zeros(3)
[v[0], v[2]] = [7, 9]
print v
function [p, q, r] = three()
    p = 1; q = 2; r = 3
end
[x, y, z] = three()
print x, y, z
[x, y] = three()
print x, y
[_, y] = three()
print y
x = three()
print x
[m, n] = size(ones(4,5), 0..1)
print m, n
