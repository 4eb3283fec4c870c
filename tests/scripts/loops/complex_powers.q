% options: --loops always
% Powers of complex numbers have the same bits as arrays and one by one: small integral exponents are products.
function y = powers(z, a)
    y = z .^ a
end
function [] = check(z, a)
    y = powers(z, a)
    same = true
    for k = 0..numel(y)-1
        base = numel(z) > 1 ? z[k] : z
        exponent = numel(a) > 1 ? a[k] : a
        same = same && base ^ exponent == y[k]
    end
    print same
end
n = 40
a = int64(-20..n-21)
z = complex(float64(1..n)/7, float64(n..-1..1)/9)
check(complex(0.3, 0.7), a)
check(z, a)
check(z, float64(a)/2)
check(z, complex(float64(a), 0*float64(a)))
check(z, complex(3, 0))
check(z, 5)
