% needs: python numpy
% devices: one
% Only float, int, bool, str, complex and None are converted to values; everything else stays a Python object.
m = pyimport("helper")
py = pyimport("builtins")
function [] = show(x)
  print type(x), " ", x
end
show(py.float("1.5"))
show(py.int("7"))
show(py.int("9007199254740992"))
show(py.int("9007199254740993"))
show(py.int("123456789012345678901234567890"))
show(py.bool(1))
show(py.str("žluť"))
show(py.complex(1, 2))
show(m.ident(null) == null)
show(m.Colour.RED)
show(py.list({1,2}))
show(pyimport("numpy").float64(2.5))
show(m.ident([1,2,3]))
show(m.ident(object()))
