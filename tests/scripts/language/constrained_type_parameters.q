function y = __device__ f[T : [scalar|cscalar]](x : T)
    y = 2*x
end
function y = __device__ g[T : [scalar|cscalar]](x : vec[T])
    y = x[0]
end
function y = h[N : int](x : vec(N))
    y = N
end
function y = kind[T : string](x : T)
    y = "string"
end
function y = kind[T : [scalar|vec]](x : T)
    y = "numbers"
end
function [] = __kernel__ k[T : scalar](x : vec[T], y : vec, pos : int)
    y[pos] = f(x[pos]) + g(x)
end
print f(3), " ", f(complex(1,2)), " ", g([5,6]), " ", h([1,2,3]), " ", kind("a"), " ", kind(1), " ", kind([1,2])
y = zeros(2)
parallel_do(2, [1,2], y, k)
print y
function [] = try_it(f)
    try
        f()
    catch e
        print e.message
    end
end
try_it(() -> f("text"))
try_it(() -> f([1,2]))
try_it(() -> g({"a"}))
try_it(() -> parallel_do(2, complex([1,2],[1,2]), y, k))
% loops check constraints, whatever their length
function y = half[T : int](x : T)
    y = x/2
end
function s = sum_of_halves(v)
    s = 0
    for i = 0..numel(v)-1
        s += half(v[i])
    end
end
for n = {10, 100000}
    try
        print sum_of_halves((0..n-1)*0.5)
    catch e
        print e.message
    end
end
