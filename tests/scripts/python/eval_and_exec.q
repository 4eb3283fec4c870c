% needs: python
% devices: one
py = pyimport("builtins")
py.exec("def f(x): return x+1")
print py.eval("f(2)")
print py.eval("__name__")
py.exec("import math")
print py.eval("math.pi")

