import "cycle/a.q"
import "cycle/b.q"
print "m1 top"
function y = shape(x : string)
  y = "m1 string"
end
function [] = main()
  print shape("s"), " ", shape(3), " ", shape([1,2])
  print abs("x"), abs(-3)
  print a_value, b_value, from_b()
  counter_up()
  print counter
end
