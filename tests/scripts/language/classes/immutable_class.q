type pair : class
    a : int
    b : string
end
p = pair(a:=3.9, b:="z")
print p.a, p.b
try
    p.a = 4
catch e
    print e
end
try
    p = pair(c:=1)
catch e
    print e
end
try
    p = pair(a:="text")
catch e
    print e
end
