% needs: python
% devices: one
% 10 000 levels are an error on both sides, and everything works afterwards.
m = pyimport("helper")
function y = f(n)
  if n == 0
    y = 0
  else
    y = m.call(f, n - 1) + 1
  end
end
print f(50)
try
  f(10000)
catch e
  print e
end
print f(50)
