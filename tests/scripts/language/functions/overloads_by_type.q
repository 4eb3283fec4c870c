% The exact type first, then the more specific one, then the later definition; in kernels, too.
type point : class
    x : scalar
end
type other : class
    x : scalar
end
function y = __device__ shape(x : vec)
    y = 1
end
function y = __device__ shape(x : vec3)
    y = 2
end
function y = __device__ shape(x : mat)
    y = 3
end
function y = __device__ shape(x : mat[float64])
    y = 4
end
function y = __device__ shape(x : cube)
    y = 5
end
function y = __device__ number(x : cscalar)
    y = 1
end
function y = __device__ number(x : scalar)
    y = 2
end
function y = __device__ number(x : int)
    y = 3
end
function y = __device__ number(x : bool)
    y = 4
end
function y = __device__ limited(x : scalar, lo : scalar, hi : scalar)
    y = 1
end
function y = __device__ limited(x : int, lo : int, hi : int)
    y = 2
end
function y = __device__ limited(x)
    y = 3
end
function y = __device__ limited(x, lo = 1)
    y = 4
end
function y = __device__ of(x : point)
    y = 1
end
function y = __device__ of(x : other)
    y = 2
end
function y = __device__ of[T](x : vec[T])
    y = 3
end
function y = __device__ of(x : vec[uint8])
    y = 4
end
function y = __device__ of(x)
    y = 5
end
function [] = __device__ all(y, v, w, m, d, c, p, o, b, n)
    y[0..4] = [shape(v), shape(w), shape(m), shape(d), shape(c)]
    y[5..9] = [number(5), number(2.5), number(n), number(true), number(1+2i)]
    y[10..14] = [limited(n, 0, 10), limited(2, 0, 10), limited(v[0], 0, 1), limited(3), number(v[0])]
    y[15..19] = [of(p), of(o), of(v), of(b), of(3)]
end
function [] = __kernel__ kernel(y, v, w, m, d, c, p, o, b, n, pos : int)
    all(y, v, w, m, d, c, p, o, b, n)
end
function [] = __kernel__ stored(y, x : vec, pos : int)
    y[pos] = 1
end
function [] = __kernel__ stored(y, x : mat, pos : int)
    y[pos] = 2
end
y = zeros(20)
z = zeros(20)
v = [1.5,2]
w = [1.5,2,3]
m = ones(2,2)
d = float64(ones(2,2))
c = ones(2,2,2)
p = point(x:=1)
o = other(x:=1)
b = uint8([1,2])
all(y, v, w, m, d, c, p, o, b, int(5))
parallel_do(1, z, v, w, m, d, c, p, o, b, int(5), kernel)
print y, z
parallel_do(1, z, v, stored)
parallel_do(1, y, m, stored)
print z[0], y[0]
try
    number("text")
catch e
    print e
end
