% release: yes
% needs: python numpy
% devices: one
% Mixed calls leak no memory.
m = pyimport("helper")
py = pyimport("builtins")
np = pyimport("numpy")
function y = used()
  y = m.memory()
end
function [] = mixed(n)
  a = np.arange(10, dtype:=np.float64)
  d = py.dict()
  l = py.list({1,2,3})
  v = [1,2,3]
  o = object()
  for i=1..n
    m.ident(i)
    m.call((x, y) -> x + y, i, y:=2)
    m.ident("some text")
    m.ident(v)
    m.ident(o)
    m.echo({1,2}, {1,"a"})
    d["k"] = l
    d[i - i] = v
    a[0] = i
    a += 1
    b = from_py(a)
    c = b.to_py()
    for x = l
    end
    try
      m.fail(i)
    catch e
      seen = e
    end
    try
      m.call(() -> error("x"))
    catch e
      seen = e
    end
    s = -a[1..2] + 1
    f = m.ident(x -> x)
    t = py.str(i)
  end
end
mixed(2000)
before = used()
mixed(20000)
growth = used() - before
print growth < 1000
if growth >= 1000
  print growth, " kB"
end
