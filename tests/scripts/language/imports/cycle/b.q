% part
import "a.q"
print "b top"
b_value = 20
function y = from_b()
  y = a_value + b_value
end
function y = shape(x : vec)
  y = "b vec"
end
