% Fast math changes last digits only, unless operands are infinite, 0 or tiny; tests for NaN and infinity hold
% tolerance: 1e-6
function [] = __kernel__ exact(x : vec, y : vec, pos : int)
    d = x[pos]*x[pos] + 0.01
    y[pos] = x[pos]/(d*sqrt(d)) + sqrt(d) + 1/d + exp(-d) + sin(d)
end
function [] = __kernel__ fast(x : vec, y : vec, pos : int)
    {!kernel fast_math=true}
    d = x[pos]*x[pos] + 0.01
    y[pos] = x[pos]/(d*sqrt(d)) + sqrt(d) + 1/d + exp(-d) + sin(d)
end
x = linspace(-30, 30, 1003)
y = zeros(1003)
z = zeros(1003)
parallel_do(1003, x, y, exact)
parallel_do(1003, x, z, fast)
print max(abs(z-y)./abs(y)) < 1e-5

{!kernel fast_math}
function [] = __kernel__ kind(x : vec, y : vec, pos : int)
    v = x[pos]
    y[pos] = (v != v) ? 1 : (v == 1/0) ? 2 : (v == -1/0) ? 3 : 4/sqrt(v)
end
odd = [0/0, 1/0, -1/0, 4, 1e30, 0.25]
odd = odd[mod(0..59, 6)]
y = zeros(60)
parallel_do(60, odd, y, kind)
print y[0..3], y[54..57], y[59]

function [] = __kernel__ total(x : vec, y : vec, pos : int)
    {!kernel fast_math=true}
    s = 0.0
    for j = 0..numel(x)-1
        s += x[j]
    end
    y[pos] = s + pos
end
s = zeros(64)
parallel_do(64, ones(1000), s, total)
print s[0], " ", s[63]
