% needs: python numpy
% devices: one
% Every path of an object through the border leaves its reference count unchanged, also on errors.
m = pyimport("helper")
py = pyimport("builtins")
sys = pyimport("sys")
x = py.object()
d = py.dict(k:=x)
l = py.list()
s = m.Slots()
function [] = check(what, f)
  before = sys.getrefcount(x)
  for i=1..10
    try
      f()
    catch e
      e = 0
    end
  end
  after = sys.getrefcount(x)
  if before != after
    print what, ": ", after - before
  end
end
check("argument", () -> m.ident(x))
check("arguments", () -> m.echo(x, x, 1, x))
check("many arguments", () -> m.echo(x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x))
check("named", () -> m.kinds(a:=x, b:=x))
check("error in callee", () -> m.fail(x))
check("unconvertible argument", () -> m.echo(x, {x}))
check("wrong number", () -> m.ident(x, x))
check("missing method", () -> x.nothing(x))
check("set attribute", () -> (s.a = x; s.a = 0))
check("set item", () -> (d["j"] = x; d["j"] = 0))
check("set item fails", () -> (x[x] = x))
check("get item fails", () -> d[x])
check("operator", () -> x == x)
check("operator fails", () -> x + x)
check("callback", () -> m.call(y -> y, x))
check("callback fails", () -> m.call(y -> error("no"), x))
check("callback raises", () -> m.call(y -> m.fail(y), x))
check("closure", () -> m.call(() -> x))
check("cell", () -> m.ident({x, x}))
check("tuple", () -> py.tuple({x, x}))
check("iteration", () -> m.each(x))
check("append", () -> (l.append(x); l.pop()))
check("in place", () -> (q = py.list({x}); q += py.list({x})))
check("from_py", () -> from_py(py.list({x})))
check("from_py of dict", () -> from_py(py.dict(a:=x)))
check("field", () -> (o = object(); o.f = x; m.ident(o).f))
check("function attribute", () -> m.ident(x).missing)
print "done"
