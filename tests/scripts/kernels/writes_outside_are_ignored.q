function [] = __kernel__ k(y : vec, pos : int)
    y[pos + 2] = 7
end
y = zeros(4)
parallel_do(4, y, k)
print y
