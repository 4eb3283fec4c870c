% Sums of ints have 32 bits: a wrapped sum is a different index, even if its bounds check seems to hold.
function [] = __kernel__ below(x : vec, y : vec, pos : int)
    k : int = pos - 2147483647
    m : int = k - 20
    y[pos] = x[m + 2147483667]
end

function [] = __kernel__ above(x : vec, y : vec, pos : int)
    k : int = pos + 2147483600
    y[pos] = x[k - 2147483600]
end

x = 1..60
y = zeros(60)
parallel_do(60, x, y, below)
print(y)
y = zeros(60)
parallel_do(60, x, y, above)
print(y)
