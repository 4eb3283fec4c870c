% Later changes to an array that was an initial value change no object, on the host and in kernels.
a = [1.0,2.0]
c = {1,2}
type box : mutable class
    w : vec = a
    any = a
end
type held : mutable class
    c = c
end
type pair[T] : class
    w : vec[T] = a
end
function [] = __kernel__ k(y : vec, pos : int)
    b = box()
    y[0..1] = b.w
    y[2..3] = b.any
end
y = zeros(4)
parallel_do(1, y, k)
print y
a[0] = 7
c[0] = 7
print box().w, box().any, held().c, pair[scalar]().w
parallel_do(1, y, k)
print y
p = box()
p.w[0] = 9
print box().w, a
