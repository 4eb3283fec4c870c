% A result does not share memory with an argument: a write to it leaves the argument as it was.
import "filterdesign.q"
import "kmeans.q"
import "optim.q"

x0 = float64([1,1])
x = lsqnonlin(q -> q - 1, x0)
x[0] = 7
print x0
start = float64([[0,0],[5,5]])
[idx, C] = kmeans([[0,0],[5,5],[6,6]], 2, start, 1, 1)
C[0,0] = 9
print start
at = float64([0.5,1])
[h, w] = freqz([1,1], 1, at)
w[0] = 9
[h, w] = grpdelay([1,1], 1, at)
w[0] = 9
print at
