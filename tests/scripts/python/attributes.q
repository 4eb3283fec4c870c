% needs: python numpy
% devices: one
py = pyimport("builtins")
m = pyimport("helper")
types = pyimport("types")
s = types.SimpleNamespace(a:=1)
s.b = "two"
s.a += 1
print s.a, s.b
print py.getattr(s, "b")
try
  print m.idnet(1)
catch e
  print e
end
try
  m.Asked().value
catch e
  print e
end
try
  m.Asked().value()
catch e
  print e
end
