import "named_part.q" as g
import "matfun.q" as mf
print g.area(2), " ", g.area("s"), " ", g.area(2, k := 5), " ", g.scale
print sin(0), " ", g.sin(0)
x = [1,2,3]
y = zeros(3)
parallel_do(3, x, y, g.twice)
print y
p = g.point(x := 3, y := 4)
print p, " ", g.length2(p), " ", type(p)
print g.color.green
function z = f(q : g.point)
    z = q.x + g.area(1)
end
print f(p)
s = 0
for i = 0..99999
    s += g.sq(i)
end
print s
h = v -> g.area(v) + g.scale
print h(1)
g.count()
g.count()
print g.total
z = map2(g.sq)
function y = map2(fn)
    y = fn(5)
end
print z
v = vec[g.point](2)
print type(v)
function y = local(g)
    y = g.x
end
print local(p)
print size(mf.expm(zeros(2,2)))
g.total[1] = 7
print g.total
function [] = __kernel__ k(y : vec, pos : int)
    y[pos] = g.sq(pos) + g.scale
end
parallel_do(3, y, k)
print y
function r = local_name()
    g = object()
    g.area = 5
    r = g.area
end
print local_name()
import "named_part.q" as sum
print sum([1,2]), " ", sum.area(2), " ", sum.total
