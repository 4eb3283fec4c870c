% Every callable value, called in every way.
type pt : class
    x : scalar
end
fs = {abs, x -> x + 1, pt, int, vec}
print fs[0](-3), fs[1](3), fs[2](5), fs[3](2.9), fs[4](2)
o = object()
o.f = abs
o.g = (a, b = 2) -> a*b
print o.f(-4), o.g(3), o.g(3, b:=5)
print ((a, b) -> a - b)(b:=1, a:=10)
function y = apply(f, ...args)
    y = f(args[0], args[1])
end
print apply(max, 3, 9), apply((a, b) -> a*b, 3, 9)
print [1,4,9].sqrt(), (-5).abs()
function y = twice(self, k)
    y = self*k
end
print (4).twice(3), "ab".strlen()
try
    o.nothing(1)
catch e
    print e
end
try
    o.f(1, 2)
catch e
    print e
end
try
    (3)(4)
catch e
    print e
end
