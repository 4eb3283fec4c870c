% needs: python numpy
% devices: one
m = pyimport("helper")
py = pyimport("builtins")
for x = m.numbers(3)
  print x
end
for k = py.dict(a:=1, b:=2)
  print k
end
for row = pyimport("numpy").array([[1,2],[3,4]])
  print row
end
[a, b] = m.echo(1, "two")
print a, b
for pair = py.enumerate({"x","y"})
  [i, s] = pair
  print i, s
end
try
  for x = m.numbers(5)
    if x == 1
      continue
    end
    print x
  end
catch e
  print e
end
try
  for x = py.object()
  end
catch e
  print e
end
