% options: --loops always --explain
% Fields keep their type, and have the values that the program left when an iteration failed.
type body : mutable class
    x : scalar
    k : int
    v : vec
    any
end
p = body(x:=1, k:=3, v:=[1,2], any:=0)
o = object()
o.count = 0
for i=0..9
    p.x += p.any*0.5
    p.any = i
    p.k = p.x*1.7
    o.count += 1
    if p.x > 10
        p.v = p.v + [1,p.k]
    end
end
print p, " ", o.count, " ", type(p.k)
% in functions, and fields that functions set
function [] = step(b, dt)
    b.x = b.x + dt*b.k
    b.any = dt
end
function s = total(b, n)
    s = 0
    for i=1..n
        step(b, 1/i)
        s += b.x
    end
end
print total(p, 5), " ", p.x, " ", p.any
% two names of one object
q = p
q.x = 0
for i=1..3
    p.x += 1
    q.x *= 2
end
print p.x
% a failing iteration leaves the fields that it has set
a = zeros(3)
try
    for i=0..5
        p.x = i
        a[i] = p.x
        p.k = 100*i
    end
catch e
    print e, " ", p.x, " ", p.k
end
% a class whose fields cannot be set, and a new field
type fixed : class
    x : scalar
end
f = fixed(x:=1)
for i=0..1
    try
        f.x = i
    catch e
        print e
    end
end
for i=0..1
    o.fresh = i
end
print o.fresh
