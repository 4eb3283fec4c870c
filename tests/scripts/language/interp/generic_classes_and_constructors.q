type list[T] : mutable class
  items : vec[T]
  n : int
end
function [] = add[T](self : list[T], x : T)
   self.items[self.n] = x
   self.n += 1
end
l = list[scalar](items:=zeros(4), n:=0)
l.add(3)
l.add(4)
print l.items, l.n
type pt : mutable class
  x : scalar
  y : scalar
end
function p = pt(a)
  p = pt(x:=a, y:=a)
end
function p = pt()
  p = pt(x:=7, y:=8)
end
print pt(3), pt(), pt(1,2), pt(x:=5)
o = object()
o.f = (a, b) -> a*b
print o.f(3, 4)
o.v = [1,2,3]
o.v[1] += 5
print o.v
o.c = {1, object()}
o.c[1].z = 4
o.c[1].z *= 3
print o.c[1].z
print o
d = {1,2}
d[0] += 10
print d
c = {[1], [2,3]}
print type(c)
c[0] = "s"
print c, type(c)
