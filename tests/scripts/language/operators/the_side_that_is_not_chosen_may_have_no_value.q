% A condition of one element chooses a side, and the other side need not have a value.
function y = g(n)
  for i=0..n-1
    v = [i, i+1, i+2]
    u = (i >= 0 ? v : u)*2
  end
  y = u
end
function y = h(n)
  y = (n > 0 ? zeros(2) + n : later) - 1
  later = y
end
print g(3), h(4)
