l = {}
for i = 0..4
    l.append(i*i)
end
print l, " ", numel(l), " ", l.pop(), " ", pop(l, 0), " ", l
m = l
insert(m, 0, "x")
m.insert(3, [1,2])
append(m, m.pop(1))
print l, " ", type(l)
t = vec[mat](1)
t.append(ones(2,2))
print t, " ", size(t)
function [] = try_it(f)
    try
        print f()
    catch e
        print e.line, " ", e
    end
end
try_it(() -> t.append("x"))
try_it(() -> append([1,2], 3))
try_it(() -> append(cell(2,2), 3))
try_it(() -> pop({}))
try_it(() -> pop({1,"a"}, 2))
try_it(() -> insert({1,"a"}, 3, 1))
try_it(() -> insert({1,"a"}, -1, 1))
try_it(() -> pop({1,"a"}, 0.5))
try_it(() -> pop({1,"a"}, "b"))
big = {}
for i = 0..99999
    big.append(i)
end
s = 0
while numel(big) > 0
    s += big.pop()
end
print s, " ", numel(big), big
stack = {[1,2],[3,4]}
stack.append("text")
print stack, type(stack)
% derivatives go through lists and dictionaries
f = x -> (l = {}; l.append(x.*x); l.append(3*x); d = dict(); d[1] = l[0]; d["b"] = l.pop(); sum(d[1]) + sum(d["b"]))
print grad(f, [1,2,3]), " ", grad(f, 2)
function [] = changes(v : vec[vec])
    v.append([7])
end
rows = {[1,2],[3]}
changes(rows)
print rows
for x in rows
    if numel(rows) < 5
        rows.append(2*x)
    end
end
print rows
