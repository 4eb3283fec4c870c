% options: --loops always
% Fast math divides by r*sqrt(r), and by |x|*sqrt(r), without a square or third power that float32 cannot hold.
function y = by_loop(x, a)
    {!fast_math}
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        r = x[i]*x[i] + 0.01
        y[i] = a/(r*sqrt(r))
    end
end
function y = by_other_loop(x, a)
    {!fast_math}
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        r = x[i]*x[i] + 0.01
        y[i] = a/(sqrt(r)*abs(r))
    end
end
function y = by_two_values(x, a)
    {!fast_math}
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        r = x[i]*x[i] + 0.01
        y[i] = a/(abs(2*x[i])*sqrt(r))
    end
end
function y = by_power(x, a)
    {!fast_math}
    y = a*(x.^2 + 0.01).^(-1.5)
end
function s = sums(x, a)
    {!fast_math}
    d = x - transpose(x)
    s = sum(a*(d.^2 + x.^2 + 0.01).^(-1.5), 1)
end
v = [0.001, 1, 1000, 1e6, 3e6, 1e7, 1e8, 1e11]
x = zeros(64)
for i = 0..63
    x[i] = v[mod(i, 8)]
end
exact = (float64(x).^2 + 0.01).^(-1.5)
for a = [1, 3]
    for f = {by_loop, by_other_loop, by_power}
        y = float64(f(x, a))
        print all(abs(y./(a*exact) - 1) < 1e-5)
    end
    print all(abs(float64(by_two_values(x, a))./(a/(2*float64(x).*sqrt(float64(x).^2 + 0.01))) - 1) < 1e-5)
    s = float64(sums(x, a))
    print all(isfinite(s))
end
