function [] = __kernel__ mathmap(x : vec, y : vec, pos : int)
    y[pos] = exp(-x[pos]*x[pos])*sin(x[pos])
end
n = 4194304
x = (0..n-1)*(6/n) - 3
y = zeros(n)
best = 1/0
for k = 1..12
    tic()
    parallel_do(n, x, y, mathmap)
    best = min(best, toc(""))
end
print best, " ", sum(abs(y))
