% needs: python
% devices: one
m = pyimport("helper")
py = pyimport("builtins")
f = pyfunc(py.sorted)
print type(f), " ", f(py.list({3,1,2})), " ", f(py.list({3,1,2}), reverse:=true)
g = pyfunc(m.echo)
print g(1,2), " ", g() == py.tuple()
print m.ident(f) == py.sorted, " ", py.list(py.map(g, py.list({1,2})))
h = pyfunc(x -> 2*x)
print h(4)
print pyfunc(m.Scope) == m.Scope
try
  pyfunc(py.list())
catch e
  print e
end
