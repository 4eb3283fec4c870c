function [] = __kernel__ count(x : vec[uint8], h : vec[int], pos : int)
    h[x[pos]] += 1
end
n = 16777216
x = vec[uint8](n)
x[:] = mod(0..n-1, 251)
h = vec[int](256)
best = 1/0
for k = 1..8
    h[:] = 0
    tic()
    parallel_do(n, x, h, count)
    best = min(best, toc(""))
end
print best, " ", h[1]
