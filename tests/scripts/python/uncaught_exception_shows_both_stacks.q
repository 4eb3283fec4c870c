% exit: 1
% needs: python
% devices: one
m = pyimport("helper")
function y = inner(x)
  m.fail(x)
  y = 1
end
function y = outer(x)
  y = m.call(inner, x)
end
print "before"
print outer(4)
