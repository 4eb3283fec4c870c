% needs: python numpy
% devices: one
m = pyimport("helper")
py = pyimport("builtins")
np = pyimport("numpy")
if py.list({1}) print "a list with something in it is true" end
if !py.list() print "an empty one is not" end
print py.len(py.list({1,2})), py.len("abc"), py.len([1,2,3,4])
x = py.list() ? 1 : 2
print x
try
  if m.NoTruth() print "?" end
catch e
  print e
end
try
  if np.array({1,2}) print "?" end
catch e
  print e
end
