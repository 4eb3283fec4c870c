% part
import "b.q"
print "a top"
a_value = 10
function y = shape(x : scalar)
  y = "a scalar"
end
function y = abs(x : string)
  y = "string abs"
end
counter = object()
counter.n = 0
function [] = counter_up()
  counter.n += 1
end
