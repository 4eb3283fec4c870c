% needs: python numpy
% devices: one
% A value that crosses the border twice is the original object, never a wrapper of a wrapper.
m = pyimport("helper")
py = pyimport("builtins")
d = py.dict(a:=1)
print m.call((x, y) -> x == y, d, d), py.id(m.ident(d)) == py.id(d)
f = x -> 2*x
print m.ident(f) == f, type(m.ident(f), "pyvalue")
o = object()
o.n = 1
p = m.ident(o)
p.n = 2
print o.n
v = [1,2,3]
w = m.ident(v)
w[0] = 9
print v
