% Functions that call themselves in kernels: results of the host, of known sequences, and of arrays that change.
function y = __device__ ack(m : int, n : int)
    if m == 0
        y = n + 1
    elseif n == 0
        y = ack(m-1, 1)
    else
        y = ack(m-1, ack(m, n-1))
    end
end
function [] = __device__ qsort(x : mat, row : int, lo : int, hi : int)
    if lo >= hi
        return
    end
    p = x[row, int((lo+hi)/2)]
    i = lo
    j = hi
    while i <= j
        while x[row,i] < p
            i += 1
        end
        while x[row,j] > p
            j -= 1
        end
        if i <= j
            t = x[row,i]
            x[row,i] = x[row,j]
            x[row,j] = t
            i += 1
            j -= 1
        end
    end
    qsort(x, row, lo, j)
    qsort(x, row, i, hi)
end
function y = __device__ is_even(n : int)
    y = n == 0 ? true : is_odd(n-1)
end
function y = __device__ is_odd(n : int)
    y = n == 0 ? false : is_even(n-1)
end
function [f, m] = __device__ hof(n : int)
    f = n == 0 ? 1 : n - hm(hf(n-1))
    m = n == 0 ? 0 : n - hf(hm(n-1))
end
function f = __device__ hf(n : int)
    if n == 0
        f = 1
    else
        f = n - hm(hf(n-1))
    end
end
function f = __device__ hm(n : int)
    if n == 0
        f = 0
    else
        f = n - hf(hm(n-1))
    end
end
function [v, n] = __device__ spin(v0 : vec3, depth : int)
    v = v0
    n = 1
    if depth > 0
        for k = 0..2
            [w, c] = spin([v[1], v[2], v[0]*0.5], depth-1)
            v = v + 0.25*w
            n += c
        end
    end
end
function [] = __device__ revert(v : vec(5), i : int)
    if i < 2
        t = v[i]
        v[i] = v[4-i]
        v[4-i] = t
        revert(v, i+1)
    end
end
function [] = __kernel__ k1(y : vec, pos : int)
    y[pos] = ack(2, pos) + (is_even(pos) ? 100 : 200)
end
function [] = __kernel__ k2(x : mat, pos : int)
    qsort(x, pos, 0, size(x,1)-1)
end
function [] = __kernel__ k3(y : mat, pos : int)
    [f, m] = hof(pos)
    y[pos,0] = f
    y[pos,1] = m
end
function [] = __kernel__ k4(y : mat, pos : int)
    [v, n] = spin([1,2,pos], pos)
    y[pos,0..2] = v
    y[pos,3] = n
end
function [] = __kernel__ k5(y : mat, pos : int)
    a = [1,2,3,4,5]*pos
    revert(a, 0)
    y[pos,0..4] = a
end
y = zeros(8)
parallel_do(8, y, k1)
print y
z = zeros(8)
for i=0..7, z[i] = ack(2,i) + (is_even(i) ? 100 : 200), end
print z
x = round(100*rand(5,40))
s = sort(x, 1)
parallel_do(5, x, k2)
print max(abs(s-x))
y = zeros(10,2)
parallel_do(10, y, k3)
print transpose(y)
for i=0..9
  [f,m] = hof(i)
  y[i,0]=f
  y[i,1]=m
end
print transpose(y)
y = zeros(4,4)
parallel_do(4, y, k4)
print y
for i=0..3
  [v,n] = spin([1,2,i], i)
  y[i,:] = [v[0],v[1],v[2],n]
end
print y
y = zeros(3,5)
parallel_do(3, y, k5)
print y
function y = __device__ walk(left : vec[int], right : vec[int], w : vec, node : int)
    y = 0.0
    if node < 0
        return
    end
    y = w[node] + walk(left, right, w, left[node])
    y = max(y, w[node] + walk(left, right, w, right[node]))
end
function [] = __kernel__ best(left : vec[int], right : vec[int], w : vec, y : vec, pos : int)
    y[pos] = walk(left, right, w, pos)
end
left = vec[int](7)
right = vec[int](7)
left[:] = [1,3,5,-1,-1,-1,-1]
right[:] = [2,4,6,-1,-1,-1,-1]
y = zeros(7)
parallel_do(7, left, right, [1,2,3,10,20,40,5], y, best)
print y
function y = __device__ paths(n : int, m : int)
    y = 0
    for k = 1..3
        if k == 2
            continue
        end
        if n <= 0
            y += 1
            break
        end
        y += paths(n-k, m)
        if y > m
            break
        end
    end
    for k = 3..-1..1
        if n < 2*k
            continue
        end
        y += paths(n-2*k, m)
    end
end
function [] = __kernel__ count(y : vec[int], m : int, pos : int)
    y[pos] = paths(pos, m)
end
y = vec[int](12)
parallel_do(12, y, 50, count)
print y
z = vec[int](12)
for i = 0..11
    z[i] = paths(i, 50)
end
print z
type node : mutable class
    value : scalar
    hits : int
end
function s = __device__ visit(o : node, n : int)
    o.hits += 1
    s = o.value*n
    repeat
        if n == 0
            break
        end
        s += visit(o, n-1)
        n -= 1
    until n == 0
end
function [] = __kernel__ visits(o : node, y : vec, pos : int)
    y[pos] = visit(o, pos)
end
o = node(value:=0.5)
y = zeros(6)
parallel_do(6, o, y, visits)
print y, " ", o.hits
function [] = __kernel__ nested(y : vec, a : scalar, pos : int)
    b = pos*0.5
    function s = __device__ f(n : int)
        s = n <= 0 ? a : b + 2*f(n-1)
    end
    y[pos] = f(pos)
    if pos > 2
        y[pos] += f(2)
    end
end
y = zeros(5)
parallel_do(5, y, 1, nested)
print y
function z = __device__ croot(z0 : cscalar, n : int)
    z = z0
    if n > 0
        z = 0.5*croot(z*z, n-1) + complex(1,0)
    end
end
function [] = __kernel__ cplx(y : cvec, pos : int)
    y[pos] = croot(complex(0.5,0.5), pos)
end
y = complex(zeros(4))
parallel_do(4, y, cplx)
print y
function y = __device__ ipow(x, n : int)
    if n == 0
        y = 1
    elseif mod(n,2) == 1
        y = x*ipow(x, n-1)
    else
        h = ipow(x, int(n/2))
        y = h*h
    end
end
function [] = __kernel__ powers(y : vec, pos : int)
    y[pos] = ipow(1.5, pos) + ipow(2, 3)
end
y = zeros(5)
parallel_do(5, y, powers)
print y
function [] = __device__ say(n : int)
    if n > 0
        say(n-1)
        print "level ", n
    end
end
function [] = __kernel__ talk(pos : int)
    say(pos)
end
parallel_do(3, talk)
function d = __device__ minors(a)
    N = size(a,0)
    if N == 1
        d = a[0,0]
    else
        d = 0.0
        for k = 0..N-1
            b = zeros(N-1,N-1)
            for i = 1..N-1
                for j = 0..N-2
                    b[i-1,j] = a[i, j < k ? j : j+1]
                end
            end
            d += (mod(k,2) == 0 ? 1 : -1)*a[0,k]*minors(b)
        end
    end
end
function [] = __kernel__ dets(y : vec, pos : int)
    a = eye(5)*2
    a[0,3] = 1
    a[3,0] = 1
    y[pos] = minors(a) + pos
end
y = zeros(2)
parallel_do(2, y, dets)
print y
% random numbers differ from call to call, and random depths end
function n = __device__ depth(k : int)
    n = rand() < 0.8 && k < 90 ? depth(k+1) : k
end
function [] = __kernel__ deep(y : vec[int], pos : int)
    {!kernel recursion=100}
    y[pos] = depth(0) + depth(0)
end
y = vec[int](1000)
randseed(3)
parallel_do(1000, y, deep)
print abs(mean(y) - 8) < 0.6, " ", max(y) > 20
% the derivative of a power
function y = __device__ power(x : scalar, n : int)
    if n == 0
        y = 1.0
    else
        y = x * power(x, n-1)
    end
end
function [] = __kernel__ powers_of(x : vec, n : vec[int], y : vec, pos : int)
    y[pos] = power(x[pos], n[pos])
end
function s = total(x)
    y = zeros(3)
    n = vec[int](3)
    n[:] = [1,2,3]
    parallel_do(3, x, n, y, powers_of)
    s = sum(y)
end
print grad(total, [2,3,4])
