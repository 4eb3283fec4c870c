% devices: ref cpu
% Expressions on large arrays run as one kernel; slices of the same arrays are too small for that. Both must agree in
% type and, up to the rounding of the last digits, in value.
n = 60000

function [worst, same_type] = compare(f, a, b, c)
    whole = a
    for round = 1..12                  % often enough to be worth compiling
        whole = f(a, b, c)
    end
    worst = 0
    same_type = true
    for first = 0..1000..numel(a)-1
        last = first + 999
        part = f(a[first..last], b[first..last], c)
        same_type = same_type && type(part) == type(whole)
        d = abs(float(whole[first..last]) - float(part))
        worst = max(worst, max(d./(1 + abs(float(part)))))
    end
end

function [] = check(name, f, a, b, c)
    [worst, same_type] = compare(f, a, b, c)
    if worst > 1e-5 || !same_type
        print name, ": differs by ", worst, ", same type: ", same_type
    endif
end

x = mod((0..n-1)*37, 1009)/100 - 5
y = mod((0..n-1)*53, 997)/100 + 0.25
i = vec[int](n)
i[:] = mod(0..n-1, 200) - 100
u = vec[uint8](n)
u[:] = mod(0..n-1, 251)
w = vec[uint16](n)
w[:] = mod((0..n-1)*7, 60000)
d = vec[float64](n)
d[:] = x*1.5
l = vec[int64](n)
l[:] = (0..n-1)*3

kinds = {x, y, i, u, w, d, l}
names = {"float32", "float32", "int", "uint8", "uint16", "float64", "int64"}
for p = 0..numel(kinds)-1
    for q = 0..numel(kinds)-1
        label = names[p] + " with " + names[q]
        a = kinds[p]
        b = kinds[q]
        check(label + " sums", (a, b, c) -> a + b.*c - a.*a, a, b, 0.5)
        check(label + " int scalar", (a, b, c) -> a.*c + b - c, a, b, int(3))
        check(label + " quotients", (a, b, c) -> (a + 1)./(b.*b + c), a, b, 2)
        check(label + " order", (a, b, c) -> (a > b) + (a <= c) + (b != a), a, b, 7)
        check(label + " powers", (a, b, c) -> (a/50).^3 + (b/50).^2, a, b, 0)
        check(label + " negative", (a, b, c) -> -(a - c) - b, a, b, 1.25)
    end
end
check("functions", (a, b, c) -> exp(-a.*a).*sin(b) + sqrt(abs(a)) + atan2(a, b) + log(b), x, y, 0)
check("choices", (a, b, c) -> max(a, 0) + min(b, c) + clamp(a, 2) + saturate(b) + sign(a) + frac(a) + mod(a, 0.7), x, y, 3)
check("double functions", (a, b, c) -> cos(a) + tanh(a).*c, d, d, 0.1)
check("special", (a, b, c) -> isnan(a) + isinf(1./a) + isfinite(a) + 0, x - x[5], y, 0)

% reductions: compared with sums over the slices
function [] = check_sum(name, whole, parts)
    if abs(whole - parts) > 1e-6*(1 + abs(parts))
        print name, ": ", whole, " and ", parts
    endif
end
for round = 1..12
    s = sum(x.*y)
    m = mean((x - y).^2)
    hi = max(abs(x - 3))
    lo = min(x.*y + 1)
    count = sum(x > 2)
    total = sum(i.*i + i)
end
s2 = 0; m2 = 0; hi2 = 0; lo2 = 1/0; count2 = 0; total2 = 0
for first = 0..1000..n-1
    r = first..first+999
    s2 += sum(x[r].*y[r]); m2 += sum((x[r] - y[r]).^2)/n
    hi2 = max(hi2, max(abs(x[r] - 3))); lo2 = min(lo2, min(x[r].*y[r] + 1))
    count2 += sum(x[r] > 2); total2 += sum(i[r].*i[r] + i[r])
end
check_sum("sum", s, s2)
check_sum("mean", m, m2)
check_sum("max", hi, hi2)
check_sum("min", lo, lo2)
check_sum("count", count, count2)
check_sum("int sum", total, total2)
print type(s), " ", type(total), " ", type(count), " ", type(hi)

% shapes: a row and a column stretched over a matrix
row = reshape(x[0..299], [1,300])
col = transpose(y[0..199])
mat1 = reshape(x, [200,300])
for round = 1..12
    z = mat1.*row + col - 1
end
worst = 0
for k = 0..199
    worst = max(worst, max(abs(z[k,:] - (mat1[k,:].*row + col[k,0] - 1))))
end
print size(z), " ", worst < 1e-5

% the arrays keep their values, and a result may reuse the memory of an operand
before = sum(x)
x2 = copy(x)
for round = 1..12
    x2 = x2*0.5 + y*0.5
end
print abs(sum(x) - before) == 0, " ", max(abs(x2 - y)) < 0.01
