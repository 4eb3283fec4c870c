% needs: python numpy
% devices: one
% One table: the Python type of each type of value that is passed as an argument.
m = pyimport("helper")
print m.kinds(1, int(2), true, "s", 1+2j, null)
print m.kinds([1,2], [[1,2],[3,4]], zeros(2,2,2), object())
print m.kinds({1,2}, {1,"a"}, x->x, m, pyint(3), pyfloat(3), pystr(3), pybool(1))
print m.kinds(flag:=true, n:=2)
py = pyimport("builtins")
print py.isinstance(1.5, py.float), py.isinstance(int(1), py.int)
print py.list(py.range(3))
try
  py.range(2.5)
catch e
  print e
end
print pyimport("builtins").hasattr([1,2], "__iter__"), " ", pyimport("builtins").list(pyimport("builtins").iter([4,5]))
