type bird : dynamic class
    name : string
end
b = bird(name:="owl")
b.speed = 3
print b.name, b.speed
o = object()
o.a:scalar = 1
o.list = [1,2]
o.list[0] = 50
o.inner = object()
o.inner.deep = 7
print o.a, o.list, o.inner.deep
o.start = () -> o.a = 99
o.start()
print o.a
try
    print o.lisst
catch e
    print e
end
