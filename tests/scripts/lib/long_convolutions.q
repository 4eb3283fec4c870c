% A convolution of two long vectors uses transforms: compared with the sum of convolutions with parts of the second one.
function y = by_parts(a, b)
    n = numel(b)
    y = 0*float64(zeros(numel(a) + n - 1))*(a[0]*b[0])
    for k = 0..1000..n-1
        last = min(k + 999, n - 1)
        y[k..numel(a)+last-1] = y[k..numel(a)+last-1] + conv(a, b[k..last])
    end
end
function [] = check(what, a, b)
    wanted = by_parts(a, b)
    apart = max(abs(conv(a, b) - wanted))
    print what, ": ", apart < 1e-15*norm(a)*norm(b), " ", max(abs(conv(b, a) - wanted)) < 1e-15*norm(a)*norm(b)
end
x = float64(rand(9001)) - 0.5
h = float64(rand(2500)) - 0.5
check("as long as each other", x, x)
check("a long one and a short one", x, h)
check("just long enough", x, h[0..2047])
check("complex", complex(x[0..2999], x[3000..5999]), complex(h, 3*h))
check("of different size", 1e100*x, 1e-100*h)

w = round(1000*x)
f = round(100*h)
print "integers: ", max(abs(conv(w, f) - by_parts(w, f))), " ", type(conv(float32(w), float32(f))) == type(float32(w))
full = by_parts(w, f)
print "modes: ", max(abs(conv(w, f, "same") - full[1250..1250+9000])), " ", max(abs(conv(w, f, "valid") - full[2499..9000]))
x[4000] = nan
h[7] = inf
y = conv(x, h)
print "nan: ", sum(isnan(y)) == 2500, " inf: ", sum(isinf(y)) + sum(isnan(y)) == 9001
