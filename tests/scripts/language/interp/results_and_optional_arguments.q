function [a,b,c] = three()
  a = 1
  b = 2
  c = 3
end
[x] = three()
print x
print three() + 1
f = () -> three()
print f()
function [] = none()
end
none()
g = () -> none()
g()
try
  z = none()
catch e
  print e
end
try
  z = g()
catch e
  print e
end
try
  [p,q,r,s] = three()
catch e
  print e
end
[p,q] = [10,20,30]
print p, q
[p,q] = {"s", 3}
print p, q
try
  [p,q] = 5
catch e
  print e
end
h = (n, ...rest) -> numel(rest) + n
print h(1,2,3,4)
print h(1)
function y = opt(a, b = a + 1, c = b*2)
  y = [a,b,c]
end
print opt(1), opt(1,5), opt(1, c:=0)
