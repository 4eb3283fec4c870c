k = 10
f = x -> x + k
k = 20
print f(1)
g = () -> print("called")
g()
h = (a, b) -> (s = a + b; s*s)
print h(1, 2)
o = object()
o.on = false
switch = () -> o.on = true
switch()
print o.on
