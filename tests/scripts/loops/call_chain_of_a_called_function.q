% options: --loops always
% exit: 1
import "element_after_the_fifth.q"
function y = twice(x, i)
    y = 2*fifth_after(x, i)
end
x = zeros(20)
s = 0
for i=0..19
    s += twice(x, i)
end
