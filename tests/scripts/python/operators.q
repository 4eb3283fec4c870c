% needs: python numpy
% devices: one
np = pyimport("numpy")
py = pyimport("builtins")
x = np.array({1,2,3})
print x + 1, 1 - x, x .* x, x / 2, x .^ 2, -x
print x == 2, x != 2, x < 2, x >= 2, !(x > 1)
print (x > 1) && (x < 3), (x > 2) || (x < 2)
print "a" + py.str("b"), pystr("b") + "c", pystr("-")*3
print pyint(2)^100, " ", type(pyint(7)/2), " ", py.divmod(7, 2)
s = py.set({1,2})
print py.len(s), pyint(3) == 3, pyint(3) == "3", pyint(3) == null
try
  s = py.object() + 1
catch e
  print e
end
