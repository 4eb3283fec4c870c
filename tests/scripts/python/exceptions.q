% needs: python
% devices: one
m = pyimport("helper")
py = pyimport("builtins")
try
  m.fail(1)
catch e
  print e, " ", py.isinstance(e, py.KeyError), " ", e.args[0]
end
try
  m.call(() -> m.fail(2))
catch e
  print e
end
try
  m.call(() -> error("of the script"))
catch e
  print e, " ", type(e, "string")
end
try
  py.sorted(py.list({"a","b"}), key:=x->m.fail(x))
catch e
  print e
end
print m.outcome(() -> [1,2,3][7])
print m.outcome(() -> zeros(-1))
print m.outcome(() -> error("mine"))
print m.outcome(() -> m.fail(3))
print m.outcome(() -> undefined_field(object()))
try
  pyimport("no_such_module")
catch e
  print e
end
try
  py.int("x")
catch e
  print e
end
try
  m.only_whole(2)
catch e
  print e
end
print m.only_whole(pyint(2))
function y = undefined_field(o)
  y = o.field
end
try
  py.int("x")
catch e
  print e.message
end
