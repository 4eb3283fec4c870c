% needs: python
% devices: one
m = pyimport("helper")
py = pyimport("builtins")
function [] = cycle(n)
  for i=1..n
    o = object()
    o.d = py.dict(me:=o, traced:=m.Traced())
  end
end
cycle(50000)
print m.traced() < 25000
