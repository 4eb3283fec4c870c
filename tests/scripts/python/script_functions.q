% needs: python
% devices: one
% Functions and lambdas as Python callables: defaults, names, several results, overloads, closures.
m = pyimport("helper")
py = pyimport("builtins")
function y = add(a, b = 10)
  y = a + b
end
function [a, b] = both(x)
  a = x
  b = x*x
end
function [] = nothing()
end
function y = twice(x : scalar)
  y = 2*x
end
function y = twice(x : string)
  y = x + x
end
k = 5
print m.call(add, 1), " ", m.call(add, 1, b:=2), " ", m.call(x -> x + k, 1)
print m.call(both, 3)
print m.call(nothing) == null
print m.call(twice, 4), m.call(twice, "ab")
print m.outcome(() -> add())
print m.outcome(() -> add(1, c:=2))
f = m.ident(add)
print f(1)
print py.list(py.map(x -> x^2, py.list({1,2,3})))
functools = pyimport("functools")
print functools.reduce((a, b) -> a + b, {1,2,3,4})
