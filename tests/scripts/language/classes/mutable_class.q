type point : mutable class
    x : scalar
    y : scalar
endtype
p = point(x:=1, y:=2)
print p.x, p.y
p.x = 10
q = p
q.y = 20
print p.x, " ", p.y
print type(p)
print p
r = point()
print r.x, r.y
