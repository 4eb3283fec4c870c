% exit: 1
import "named_part.q" as g
g = 3
function y = g(x)
    y = x
end
for g = 1..2
end
[g, h] = [1, 2]
