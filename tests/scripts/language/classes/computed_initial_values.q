% An initial value may be computed: once, at the class definition; each object has its own copy.  In kernels, too.
function [] = early()
    print box().r
end
try
    early()
catch e
    print e
end
N = 4
pi = 3
function y = area(r)
    y = pi*r^2
end
type box : mutable class
    r : scalar = 2*pi
    half : scalar = -pi
    n : int = N
    a : scalar = area(N)
    v : vec = zeros(3)
    w : vec3 = [1,2,N]
    c = {1,"two"}
    f = x -> x+N
    s : string = "a" + "b"
    ok = N > 3
    next : ^box = null
end
N = 5
p = box()
q = box(n := 7.9)
p.v[0] = 1
p.c[0] = 7
print p.r, " ", p.half, " ", p.n, q.n, " ", p.a, " ", p.v, q.v, p.w, p.c, q.c, " ", p.f(1), p.s, p.ok
type pair[T] : class
    a : T = N/2
end
print pair[int]().a, " ", pair[scalar]().a
type small : mutable class
    r : scalar = N/2
    n : int = N/2
    w : vec3 = [1,2,N]
    ok = N > 3
end
function [] = __kernel__ k(y : vec, pos : int)
    s = small()
    s.n += 0.7
    y[0..4] = [s.r, s.n, s.w[0], s.w[2], s.ok]
end
y = zeros(5)
parallel_do(1, y, k)
print y
