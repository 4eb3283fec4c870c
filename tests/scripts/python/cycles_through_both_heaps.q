% needs: python
% devices: one
% A script object and Python objects that hold each other are freed together, but not while a name holds one of them.
m = pyimport("helper")
py = pyimport("builtins")
gc = pyimport("gc")
function [] = cycle(n)
  for i=1..n
    o = object()
    o.d = py.dict(me:=o, traced:=m.Traced())
  end
end
function [] = by_closure(n)
  for i=1..n
    d = py.dict(traced:=m.Traced())
    f = x -> d
    d["f"] = f
  end
end
function [] = chain(n)
  for i=1..n
    a = object()
    b = object()
    a.next = b
    b.d = py.dict(a:=a, b:=b, traced:=m.Traced())
  end
end
cycle(100)
collect_garbage()
print m.traced()
by_closure(100)
collect_garbage()
print m.traced()
chain(100)
collect_garbage()
print m.traced()

kept = object()
kept.d = py.dict(me:=kept, traced:=m.Traced())
other = py.list()
function [] = hidden()
  o = object()
  o.d = py.dict(me:=o, traced:=m.Traced())
  other.append(o.d)
end
hidden()
collect_garbage()
print m.traced(), " ", kept.d["me"] == kept, " ", other[0]["me"].d == other[0]
kept = 0
collect_garbage()
print m.traced()
other = 0
collect_garbage()
print m.traced()

function [] = with_finaliser(n)
  for i=1..n
    o = object()
    o.x = i
    o.d = py.dict(last:=m.Last(() -> o.x), me:=o)
  end
end
with_finaliser(10)
collect_garbage()
collect_garbage()
print m.traced(), " ", m.last()
