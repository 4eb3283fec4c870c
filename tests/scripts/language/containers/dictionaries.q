function [] = try_it(f)
    try
        print f()
    catch e
        print e.line, " ", e
    end
end
d = dict()
d[3] = "three"
d[3.0] = "drei"
d["a"] = 1
d.b = 2
d[{1,2}] = "cell"
d[true] = "one"
print d, " ", d[1], " ", d[int(3)], d[int([3])[0]], " ", d["b"], d.a, d[{1,2}]
print keys(d), " ", values(d), " ", iskey(d, 3), iskey(d, "z"), iskey(d, {1,2}), iskey(d,{2,1})
for k in d
    write(k, "; ")
end
print ""
print pop(d, "a"), " ", d, " ", numel(keys(d))
d[3] += " mal"
d["n"] = 0
for w in strsplit("a b a c a", " ")
    d[w] = getfield(d, w, 0) + 1
end
print d
try_it(() -> d[[1,2]])
try_it(() -> d[99])
try_it(() -> d["bb"])
try_it(() -> d[nan])
try_it(() -> d[:])
try_it(() -> d[1,2])
try_it(() -> d[x -> x])
try_it(() -> d[{[1,2]}])
try_it(() -> pop(d, 99))
try_it(() -> dict({1,2},{3}))
try_it(() -> dict({1,[1,2]},{3,4}))
try_it(() -> fieldnames(d))
print dict({"x","y"}, [1,2]), " ", dict(1..3, {4,5,6})
c = copy(d)
c[3] = 0
print d[3], " ", c[3], " ", isequal(keys(c), keys(d))
q = dict()
for i = 0..99999
    q[i] = i
end
for i = 0..99989
    x = pop(q, i)
end
print keys(q), " ", q
n = 0
g = dict()
for i = 0..9
    for j = 0..9
        g[{i,j}] = i*j
    end
end
print g[{3,4}], " ", numel(keys(g))
print jsonencode(dict({1,"a",2.5,2 > 1,10000000},{1,2,3,4,5}))
try_it(() -> jsonencode(dict({{1,2}},{1})))
try_it(() -> save("/tmp/none.npz", dict({1},{2})))
type fixed : class
    x : scalar = 1
end
type open_one : dynamic class
    x : scalar = 1
end
try_it(() -> fixed()["x"])
o = open_one()
o["y"] = 2
o[5] = 6
o["x"] = 7
print o, " ", o.x, o.y, " ", keys(o)
try_it(() -> pop(o, "x"))
try_it(() -> (o["x"] = "text"))
o = object()
o.a = 1
o["b c"] = 2
print o, " ", getfield(o, "b c"), " ", isfield(o, "a"), isfield(o, "z"), " ", fieldnames(o)
key = {1,{2,"x"}}
d = dict()
d[key] = "value"
key[0] = 5
k = keys(d)[0]
k[0] = 9
print d, " ", d[{1,{2,"x"}}], " ", iskey(d, key)
d = dict({1,2,3},{4,5,6})
for k in d
    d[k+10] = d[k]
    x = pop(d, k)
end
print d
print d[11] == 4 ? "right" : "wrong"
d[2^53] = 1
d[int64([9007199254740993])[0]] = 2
print numel(keys(d)), " ", d[2^53], " ", d[-0.0 + 11]
same = d
same[1] = 2
print iskey(d, 1)
halves = dict()
halves[1.5] = "half"
print halves[1.5]
d = dict({"name", "Size", 2, "7", {1,2}, "x"}, 1..6)
try_it(() -> d["nmae"])
try_it(() -> d["size"])
try_it(() -> d["2"])
try_it(() -> d[7])
try_it(() -> d["none of them"])
try_it(() -> d[{2,1}])
try_it(() -> pop(d, "nam"))
try_it(() -> getfield(d, "nam"))
try_it(() -> d.nam)
few = dict({"a", 2.5, {1,2}}, 1..3)
try_it(() -> few["c"])
try_it(() -> few[2])
try_it(() -> dict()["c"])
try_it(() -> o["none"])
o = open_one()
o[5] = 6
try_it(() -> o["z"])
try_it(() -> getfield(fixed(), "z"))
type point : mutable class
    x : scalar = 1
end
p = point()
print isfield(p, "x"), isfield(p, "z"), isfield(p, lcase("X")), getfield(p, "x"), " ", getfield(p, "z", 5)
p.setfield(sprintf("%s", "x"), 4)
print p
try_it(() -> getfield(p, 3))
try_it(() -> isfield(p, {1,2}))
try_it(() -> setfield(p, "z", 3))
