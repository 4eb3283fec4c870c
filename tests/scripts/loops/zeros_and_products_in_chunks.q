% options: --loops always
% Parallel sums have the infinities and the signs of zeros that serial iterations give.
n = 100000
x = zeros(n) + 2
x[0] = 0
p = 1
for i=0..n-1
    p *= x[i]
end
q = 0
x[0] = 2
for i=0..n-1
    q *= x[i]
end
r = 1e-300
for i=0..n-1
    r *= mod(i,2) == 0 ? 1e-200 : 1e200
end
t = 1
for i=0..n-1
    t *= 1 + x[i]/n
end
printf("%g %g %g %.4f\n", p, q, r, t)
h = -zeros(4)
for i=0..n-1
    h[mod(i,3)] += x[i]*-0.0
end
s = -0.0
for i=0..n-1
    s += h[mod(i,3)]
end
print 1./h, " ", 1/s
most = -1
first = -1
last = -1
least = 1
lowest = 1
for i=0..n-1
    z = (50000 - i)*0
    most = max(most, z)
    least = min(least, z)
    if z > first
        first = z
    end
    if z >= last
        last = z
    end
    if lowest > z
        lowest = z
    end
end
print 1/most, " ", 1/first, " ", 1/last, " ", 1/least, " ", 1/lowest
w = zeros(n)
k = 1
for i=0..n-1
    w[i] += 1
    k *= i
end
print k, " ", sum(w) == n
