y = zeros(4)
parallel_do(4, y, __kernel__ (y : vec, pos : int) -> y[pos] = (pos-1.5)^2 + (pos-1.5)^3)
print y
