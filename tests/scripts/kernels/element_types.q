% Memory keeps its dtype, arithmetic follows the declared type; stores truncate toward zero and saturate.
function [] = __kernel__ half(x : vec, y, pos : int)
    y[pos] = x[pos]/2
end
u = uint8([1,2,255])
v = uint8([0,0,0])
parallel_do(3, u, v, half)
print v
parallel_do(3, u, __kernel__ (u, pos : int) -> u[pos] = u[pos]*100)
print u
i = int([1,2,3])
parallel_do(3, i, 3, __kernel__ (o : ivec, n : int, pos : int) -> o[pos] += n/2)
print i
h = float16([0.5,1,2])
parallel_do(3, h, __kernel__ (h, pos : int) -> h[pos] = h[pos]^2 + 0.0001)
print h
d = [0.1,0.2,0.3]
d = float64(d)
parallel_do(3, d, 0.1, __kernel__ (d, a : scalar, pos : int) -> d[pos] = d[pos] - a)
print abs(d[0] - 1.49011612e-9) < 1e-13 % what float32 rounds 0.1 by: nothing is lost in the kernel
z = czeros(3)
parallel_do(3, z, 1+2j, __kernel__ (z, c, pos : int) -> z[pos] = c*pos + 1)
print z
b = [1,2,3] > 1
parallel_do(3, b, __kernel__ (b, pos : int) -> b[pos] = !b[pos])
print b
l = int64([4000000000,5,6])
parallel_do(3, l, __kernel__ (l, pos : int) -> l[pos] = l[pos]*2 + 1)
print l
