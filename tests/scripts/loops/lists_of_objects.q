% options: --loops always
% Fields of objects in lists, read and set by any index; an object may be in a list several times.
type particle : mutable class
    x : scalar
    v : float64
    hits : int
    small : uint8
    alive : bool
end
type spot : class
    x : scalar
    w : int
end
function ps = make(m)
    ps = cell(m)
    for k = 0..m-1
        ps[k] = particle(x:=k, v:=1/(k+1), alive:=true)
    end
end
function [] = by_name(ps, n)
    for t = 1..n
        for k = 0..numel(ps)-1
            p = ps[k]
            p.v -= p.x*0.25
            p.x += p.v*0.25
            p.hits += t
        end
    end
end
function [] = by_index(ps, n)
    for t = 1..n
        for k = 0..numel(ps)-1
            ps[k].v -= ps[k].x*0.25
            ps[k].x = ps[k].x + ps[k].v*0.25
        end
    end
end
function [] = by_item(ps)
    for p in ps
        p.alive = p.alive && p.x < 2
        p.small = p.hits*100
    end
end
a = make(4)
by_name(a, 3)
by_index(a, 2)
by_item(a)
print a
% aliases: in one list, in two lists, and by a constant index
b = {a[0], a[1], a[0], a[0]}
by_name(b, 2)
by_item(b)
print a[0], b[3]
function s = two_lists(p, q)
    s = 0
    for i = 0..numel(p)-1
        for j = 0..numel(q)-1
            q[j].x += p[i].x/(j+2)
            s += p[0].x - q[j].x
            q[1].hits += 1
        end
    end
end
print two_lists(b, a), " ", two_lists(a, a), " ", two_lists(make(3), a), " ", a
% variables that hold an object, also after the loop
function [most, n] = extreme(ps)
    most = ps[0]
    n = 0
    for p in ps
        if p.x > most.x
            most = p
            n += 1
        end
    end
end
[most, n] = extreme(a)
most.x = -100
print n, " ", a
for k = 0..2
    last = a[k]
    last.x = k
end
last.x = 7
print a[2]
% methods, functions, and a class whose fields cannot be set
function [] = kick(self : particle, dv)
    self.v += dv
    self.hits = self.hits + 1
end
function e = energy(p : particle)
    e = p.v^2/2 + p.x
end
function s = total(ps, spots)
    s = 0
    for i = 0..numel(ps)-1
        ps[i].kick(i)
        kick(ps[i], 0.5)
        for j = 0..numel(spots)-1
            s += energy(ps[i])*spots[j].w + spots[j].x
        end
    end
end
print total(a, {spot(x:=1, w:=2), spot(x:=3, w:=4)}), " ", a
% an object of a list that is a variable, too
c = a[1]
for k = 0..3
    a[k].x += c.x
end
print c.x, " ", a[3].x
for k = 0..3
    c.x += a[k].v
end
print c.x
d = particle(x:=5)
for k = 0..3
    a[k].x += d.x
    d.x *= 2
end
print a[3].x, " ", d.x
% errors leave the fields as the interpreter does
try
    for k = 0..5
        a[k].x = 10*k
        a[k].alive = k - 1
    end
catch e
    print e, ": ", a
end
try
    for k = 0..3
        a[k+0.5].small = 300*k
    end
catch e
    print e
end
s = {spot(x:=1), spot(x:=2)}
for k = 0..1
    try
        s[k].x = 4
    catch e
        print e
    end
end
% lists with other items, and fields without a number
e = {a[0], s[0], a[1]}
sum = 0
for k = 0..2
    sum += e[k].x
end
type named : mutable class
    name : string
    x
    pos : vec2
    n : scalar
end
f = {named(name:="a", n:=1), named(name:="b", n:=2)}
t = ""
for k = 0..1
    f[k].n += 0.5
end
for k = 0..1
    t += f[k].name
    f[k].x = k
    f[k].pos[0] = k
end
print f, t
