function [] = __kernel__ saxpy(a : scalar, x : vec, y : vec, pos : int)
    y[pos] = a*x[pos] + y[pos]
end
n = 16777216
x = ones(n)
y = zeros(n)
best = 1/0
for k = 1..12
    tic()
    parallel_do(n, 0.5, x, y, saxpy)
    best = min(best, toc(""))
end
print best, " ", sum(y)
