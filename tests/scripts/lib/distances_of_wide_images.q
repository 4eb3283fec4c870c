% devices: cpu
% The square of a distance may exceed the range of an int in a kernel.
import "imanalysis.q"
x = zeros(1,46400)
x[0] = 1
d = bwdist(x)
print d[46399], " ", d[46340..46341]
