% part
import "one.q"
scale += 10
function y = scaled_here(x)
    y = scale*x
end
