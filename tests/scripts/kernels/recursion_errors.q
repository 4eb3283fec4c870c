% Errors of functions that call themselves in kernels.
function y = __device__ count(n : int)
    y = n == 0 ? 0 : 1 + count(n-1)
end
function [] = __kernel__ counts(y : vec, n : int, pos : int)
    y[pos] = count(n + pos)
end
function [] = __kernel__ deeper(y : vec, n : int, pos : int)
    {!kernel recursion=200}
    y[pos] = count(n + pos)
end
function [] = __kernel__ negative(y : vec, n : int, pos : int)
    {!kernel recursion=-1}
    y[pos] = count(n + pos)
end
function y = __device__ large(n : int)
    a = zeros(1024)
    a[n] = 1
    y = n == 0 ? 0 : a[n] + large(n-1)
end
function [] = __kernel__ memory(y : vec, n : int, pos : int)
    {!kernel recursion=4000}
    y[pos] = large(n + pos)
end
function y = __device__ other(x : vec, z : vec, n : int)
    y = n == 0 ? x[0] : other(z, x, n-1)
end
function [] = __kernel__ arrays(y : vec, n : int, pos : int)
    y[pos] = other(y, weights, n)
end
function y = __device__ default(n : int, k : int = 1)
    y = n == 0 ? 0 : 1 + default(n-k, k)
end
function [] = __kernel__ defaults(y : vec, n : int, pos : int)
    y[pos] = default(n)
end
function y = __device__ endless(n : int)
    y = endless(n)
end
function [] = __kernel__ never_ends(y : vec, n : int, pos : int)
    y[pos] = endless(n)
end
function y = __device__ waits(n : int)
    syncthreads
    y = n == 0 ? 0 : 1 + waits(n-1)
end
function [] = __kernel__ barrier(y : vec, n : int, pos : int)
    y[pos] = waits(n)
end
weights = [1,2,3]
function [] = try_it(n, k)
    y = zeros(3)
    try
        parallel_do(3, y, n, k)
        print y
    catch e
        print e
    end
end
try_it(61, counts)
try_it(62, counts)
try_it(190, deeper)
try_it(1, negative)
try_it(1, memory)
try_it(1, arrays)
try_it(1, defaults)
try_it(1, never_ends)
try_it(1, barrier)
type ray : class
    p : vec2
    d : scalar
end
function y = __device__ follow(r : ray, n : int)
    y = n == 0 ? r.d : follow(ray(p:=r.p, d:=r.d+1), n-1)
end
function [] = __kernel__ objects(y : vec, n : int, pos : int)
    y[pos] = follow(ray(p:=[1,2], d:=0.5), n)
end
function r = __device__ reflect(n : int)
    if n == 0
        r = ray(p:=[1,2], d:=0)
    else
        q = reflect(n-1)
        r = ray(p:=q.p, d:=q.d+1)
    end
end
function [] = __kernel__ results(y : vec, n : int, pos : int)
    r = reflect(n)
    y[pos] = r.d
end
try_it(1, objects)
try_it(1, results)
