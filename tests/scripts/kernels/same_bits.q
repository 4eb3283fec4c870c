% tolerance: 1e-3
% Sums over all positions; tests/command_devices.py compares their bits between numbers of threads.
function [] = __kernel__ squares(x : vec, s : vec, pos : int)
    s[0] += x[pos]*x[pos]
end
function [] = __kernel__ weights(x : vec, h : vec, pos : int)
    h[int(x[pos]*10)] += x[pos]
end
function [] = __kernel__ scatter(x : vec, h : vec, n : int, pos : int)
    h[mod(pos*7919, n)] += x[pos]
    h[mod(pos*104729, n)] -= x[pos]*x[pos]
end
function [] = __kernel__ extremes(x : vec, h : vec, pos : int)
    h[0] __= x[pos] - 2
    h[1] ^^= x[pos]
end
function [] = __kernel__ product(x : vec, s : vec, pos : int)
    s[0] *= 1 + (x[pos] - 0.5)/1000
end
function [] = __kernel__ inner_loops(x : vec, s : vec, n : int, pos : int)
    a = 0.0
    for j = 0..n-1
        a += sin(x[pos+j])
    end
    s[mod(pos, 3)] += a
end
function [] = __kernel__ complex_sums(x : vec, s : cvec, pos : int)
    s[mod(pos, 4)] += complex(x[pos], x[pos]*x[pos])
end
function [] = __kernel__ images(x : mat, s : vec, h : vec[int], pos : ivec2)
    s[pos[0]] += x[pos]*x[pos]
    h[int(x[pos]*4)] += 1
end
function [] = __kernel__ blocks(x : vec, s : vec, pos : int, blkpos : int, blkdim : int)
    part = shared(blkdim)
    part[blkpos] = x[pos]*x[pos]
    syncthreads
    if blkpos == 0
        t = 0.0
        for i = 0..blkdim-1
            t += part[i]
        end
        s[0] += t
    end
end
function r = of(v)
    r = sum(float64(v).*(1 + mod(0..numel(v)-1, 17)*0.137))
end
n = 300001
x = mod((0..n)*0.7548776662466927, 1)
s = zeros(1)
parallel_do(n, x, s, squares)
print s[0]
h = zeros(11)
parallel_do(n, x, h, weights)
print of(h)
h = zeros(5003)
parallel_do(n, x, h, 5003, scatter)
print of(h)
h = zeros(200003)
parallel_do(n, x, h, 200003, scatter)
print of(h)
h = [9, -9]
parallel_do(n, x, h, extremes)
print h[0], " ", h[1]
s = ones(1)
parallel_do(n, x, s, product)
print s[0]
s = zeros(3)
parallel_do(5000, x, s, 100, inner_loops)
print of(s)
s = complex(zeros(4))
parallel_do(n, x, s, complex_sums)
print of(real(s)), " ", of(imag(s))
m = reshape(x[0..299999], [1000,300])
s = zeros(1000)
h = vec[int](4)
parallel_do(size(m), m, s, h, images)
print of(s), " ", h
s = zeros(1)
parallel_do([[262144],[256]], x, s, blocks)
print s[0]
a = 0.0
h = zeros(10)
for i = 0..n-1
    a += x[i]*x[i]
    h[mod(i, 10)] += x[i]
end
print a, " ", of(h)
print sum(sin(x).*x), " ", mean((x-0.3).^2), " ", max(x.*x), " ", sum(x), " ", dotprod(x, x)
w = float64(zeros(40))
for k = 0..numel(w)-1
    t = 0.0
    for i = 0..n-1
        t += x[i]*x[i]*(k+1)
    end
    w[k] = t
    if k > 0
        w[k] += w[k-1]/2
    end
end
print sum(w)
