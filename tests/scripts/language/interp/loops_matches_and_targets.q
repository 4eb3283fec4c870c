o = object()
o.b = object()
o.b.c = {1, object()}
o.b.c[1].d = 5
o.b.c[1].d += 2
print o.b.c[1].d
v = [1,2,3]
[v[0], v[1]] = [v[1], v[0]]
print v
f = x -> (y -> x*10 + y)
print f(3)(4)
print size(zeros(3,4))[1]
for [m,n] = 0..[3,3]
  if n == 2
    continue
  end
  if m == 2
    break
  end
  print m, n
end
for [a,b] = {{1,2},{3,4}}
  print a + b
end
for [m] = 0..2
  print m
end
for [m,n] = 0..1, 5..6
  print m, n
end
for [m,n] = [1,2]..[2,3]
  print m, n
end
for r = [[1,2],[3,4]]
  print r
end
for q = 5
  print q
end
function y = modded(x : vec'circular)
  function z = inner(i)
    z = x[i]
  end
  g = i -> x[i]
  y = [inner(-1), g(5)]
end
print modded([1,2,3])
function r = kind(x)
  r = "?"
  match x with
  | (1,2) -> r = "pair or one of"
  | ("a","b") -> r = "ab"
  | -1 -> r = "minus"
  | _ -> r = "else"
  end
end
print kind([1,2]), kind(2), kind("b"), kind(-1), kind([1,3]), kind({"a","b"})
function y = withdef(a = error("needed"), b = 2)
  y = b
end
try
  print withdef()
catch e
  print e
end
print withdef(1)
k = 0
repeat
  k += 1
  if k == 3
    continue
  end
until k >= 5
print k
a = b = 3
print a, b
x = true ? "yes" : "no"
print x
c = cell(2,2)
c[0,1] = "q"
c[1,:] = {1,2}
print c
d = {1,2,3}
print d[0..1]
print {}
z = 3
z = z > 2 && z < 5
print z
print [1,2,3] == [1,5,3]
if [1,1] == [1,1]
  print "all"
end
print "x" == 3, "x" != 3, o == o, null == nullptr
print -[1,2], !true, !0
