% Random numbers in kernels: the same ones on every device and with any number of threads, in every order of positions.
function [] = __kernel__ fill(u : mat, z : mat, i : mat[int], pos : ivec2)
    u[pos] = rand()
    z[pos] = randn()
    i[pos] = randi(10)
end
function [] = __kernel__ in_loops(s : mat, n : int, pos : ivec2)
    for k = 1..n + pos[0]
        if rand() < 0.5
            s[pos] += 1
        else
            s[pos] += randi(1000)
        end
    end
end
function y = __device__ twice()
    y = rand() + 2*rand()
end
function [] = __kernel__ calls(x : cube, pos : ivec3)
    x[pos] = twice() - twice()
end
function [] = __kernel__ deep(x : cube{4}, pos : ivec4)
    x[pos] = rand()
end
function [] = __kernel__ vectors(x : mat, pos : int)
    v = rand(3)
    w = randn(2,2)
    x[pos,0..2] = v
    x[pos,3] = w[0,0] + w[1,1]
    x[pos,4..5] = randi(4, 2)
end
function r = correlation(a, b)
    a = a - mean(a)
    b = b - mean(b)
    r = sum(a.*b)/sqrt(sum(a.*a)*sum(b.*b))
end
function c = chi_square(counts, expected)
    c = sum((counts - expected).^2)/expected
end

m = 300
n = 400
u = zeros(m, n)
z = zeros(m, n)
i = mat[int](m, n)
randseed(11)
parallel_do([m,n], u, z, i, fill)
print "the first ones: ", u[0,0..3]*2^24, i[0,0..19]
v = reshape(u, m*n)
w = reshape(z, m*n)
k = float(reshape(i, m*n))
print "mean and variance: ", abs(mean(v) - 0.5) < 0.003, abs(mean(v.^2) - 1/3) < 0.003, abs(mean(w)) < 0.01, abs(mean(w.^2) - 1) < 0.015, abs(mean(w.^4) - 3) < 0.15
counts = zeros(64)
for j = 0..m*n-1
    counts[int(v[j]*64)] += 1
end
ints = zeros(10)
for j = 0..m*n-1
    ints[k[j]] += 1
end
print "chi square: ", chi_square(counts, m*n/64) < 110, chi_square(counts, m*n/64) > 30, chi_square(ints, m*n/10) < 30
print "neighbours: ", abs(correlation(v[0..m*n-2], v[1..m*n-1])) < 0.01, abs(correlation(v[0..m*n-n-1], v[n..m*n-1])) < 0.01, abs(correlation(v, w)) < 0.01, abs(correlation(w[0..m*n-2], w[1..m*n-1])) < 0.01, abs(correlation(v, k)) < 0.01

% positions one after another draw the same numbers, the next launch others, and the seed begins again
randseed(11)
t = zeros(m, n)
serial_do([m,n], t, z, i, fill)
print "serial: ", all(all(t == u))
parallel_do([m,n], t, z, i, fill)
print "the next launch: ", sum(sum(t == u)) < 3
randseed(11)
parallel_do([m,n], t, z, i, fill)
print "the seed: ", all(all(t == u)), " ", round(1e6*rand())

s = zeros(4, 5)
parallel_do([4,5], s, 20, in_loops)
print s
c = zeros(2,3,4)
parallel_do([2,3,4], c, calls)
print sort(reshape(round(c*1000), 24))
d = cube{4}(2,2,2,3)
parallel_do([2,2,2,3], d, deep)
print numel(unique(reshape(d, 24))), " ", min(reshape(d, 24)) >= 0 && max(reshape(d, 24)) < 1
x = zeros(3, 6)
parallel_do(3, x, vectors)
print round(x*1000)

% the numbers of a launch are constants of its derivative
function [] = __kernel__ noisy(x : vec, y : vec, pos : int)
    for k = 1..3
        y[pos] += x[pos]*rand()
    end
end
function y = through(x)
    y = zeros(size(x))
    parallel_do(numel(x), x, y, noisy)
end
x = [1,2,4]
randseed(3)
y = through(x)
randseed(3)
print abs(grad(x -> sum(through(x)), x) - y./x) < 1e-5
