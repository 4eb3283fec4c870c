% copy gives a new object, for every type of object; the values of its fields are shared.
type point : mutable class
    x : scalar = 1
    at : vec = [1,2]
end
type fixed : class
    x : scalar = 1
end
a = point()
b = copy(a)
b.x = 5
b.at[0] = 9
print a.x, b.x, a.at, b.at
c = object()
c.name = "c"
d = copy(c)
d.more = 2
print c, d
e = fixed(x:=3)
f = copy(e)
print f.x, type(f, "fixed")
try
    f.x = 4
catch err
    print err
end
