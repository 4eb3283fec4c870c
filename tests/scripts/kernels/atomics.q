function [] = __kernel__ k(x : vec[int], h : vec[int], s : vec, lo : vec, hi : vec, pos : int)
    h[x[pos]] += 1
    s[0] += 0.5
    lo[0] __= x[pos]
    hi[0] ^^= x[pos]
end
x = vec[int](1000)
for i = 0..999
    x[i] = mod(i*7, 10)
end
h = vec[int](10)
s = zeros(1)
lo = 100*ones(1)
hi = zeros(1)
parallel_do(1000, x, h, s, lo, hi, k)
print h, s[0], " ", lo[0], " ", hi[0]
