% Products begin with the number, not with 1+0i, because a product of 1+0i with an infinite part or a signed zero
% differs: numbers, arrays, loops, expressions and kernels agree up to the sign of zeros.
function [] = __kernel__ power(x, y, n : int'const, pos : int)
    if n == -3;     y[pos] = x[pos]^-3
    elseif n == -2; y[pos] = x[pos]^-2
    elseif n == -1; y[pos] = x[pos]^-1
    elseif n == 1;  y[pos] = x[pos]^1
    elseif n == 2;  y[pos] = x[pos]^2
    else;           y[pos] = x[pos]^3
    end
end
function y = in_kernel(x, n)
    y = x .* 0
    parallel_do(numel(x), x, y, n, power)
end
function y = one_by_one(x, n)
    y = copy(x)
    for i = 0..numel(x)-1
        y[i] = x[i]^n
    end
end
function text = shown(x) % zeros with their signs; all that is not a number alike
    text = ""
    for i = 0..numel(x)-1
        for part = {real(x[i]), imag(x[i])}
            text = text + (isnan(part) ? "nan" : part == 0 ? sprintf("%g", 1/part > 0 ? 0 : -0.0) : sprintf("%.5g", part)) + " "
        end
    end
end
function [] = agree(name, n, want, got)
    if got != want
        print name, " to the power ", n, ": ", got, "instead of ", want
    end
end
parts = {[inf, 1], [3, -0.0], [-0.0, -2], [-inf, 0.5], [0, -0.0], [2, -3], [1, nan]}
x = complex(zeros(7), zeros(7))
for i = 0..6
    x[i] = complex(parts[i][0], parts[i][1])
end
powers = {x -> x.^-3, x -> x.^-2, x -> x.^-1, x -> x.^1, x -> x.^2, x -> x.^3}
for k = 0..5
    n = [-3, -2, -1, 1, 2, 3][k]
    setenv("QUASAR_LIBRARIES", "never")
    want = shown(powers[k](x))
    print n, ": ", want
    setenv("QUASAR_LIBRARIES", "always")
    agree("an array on a device", n, want, shown(powers[k](x)))
    setenv("QUASAR_LIBRARIES", "never")
    agree("numbers", n, want, shown(one_by_one(x, n)))
    agree("a kernel", n, want, shown(in_kernel(x, n)))
end
