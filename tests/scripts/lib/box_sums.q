import "boxfilter.q"
A = reshape(1..9, [3,3])
print boxfilter(A, 1), " ", boxfilter(A, 0), " ", boxfilter([1,2,3,4], 1)
x = rand(20,30,2)
y = boxfilter(x, 3)
print abs(y[10,10,1] - sum(x[7..13,7..13,1])) < 1e-4, " ", size(y)
