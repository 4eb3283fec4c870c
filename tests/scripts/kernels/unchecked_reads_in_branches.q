% A read behind a condition, of an array without index tests, is not made where the condition fails.
function [] = __kernel__ k(x : vec, w : vec'unchecked, y : vec, pos : int)
    s = 1
    v = x[pos]
    if v < -9; s += w[123456789]; end
    y[pos] = s
end
y = zeros(100)
parallel_do(100, zeros(100), [1,2], y, k)
print sum(y)
