% options: --loops always
% exp, sqrt and powers of complex numbers: also for large, small, zero and infinite numbers, and on an axis
values = {0, -0.0, 1, -1, 0.3, -2.5, 1e-310, -1e-310, 1e308, -1.5e308, 709.5, 710, 720, -800, inf, -inf, 0/0}
n = 17
parts = float64(zeros(n))
for i=0..n-1
    parts[i] = values[i]
end
function [a, b, c, d] = loop(parts, i, n)
    a = float64(zeros(n))
    b = float64(zeros(n))
    c = float64(zeros(n))
    d = float64(zeros(n))
    j = 0
    while j < n % in order: on the processor
        z = complex(parts[i], 0)
        z = z + complex(0, parts[j])*1
        w = exp(z)
        a[j] = real(w)
        b[j] = imag(w)
        w = sqrt(z)
        c[j] = real(w)
        d[j] = imag(w)
        j += 1
    end
end
% tests that x equals y; both may be nan, and zeros must have the same sign
function r = same(x, y)
    r = (x != x && y != y) || (x == y && (x != 0 || 1/x == 1/y))
end
wrong = 0
for i=0..n-1
    [a, b, c, d] = loop(parts, i, n)
    for j=0..n-1
        z = complex(values[i], 0)
        z = z + complex(0, values[j])*1
        e = exp(z) % interpreted, because of the print below
        w = sqrt(z)
        if !same(real(e), a[j]) || !same(imag(e), b[j]) || !same(real(w), c[j]) || !same(imag(w), d[j])
            print "differs at ", z
            wrong += 1
        end
    end
end
print wrong
printf("%.15g %.15g\n", real(sqrt(-4+0i)), imag(sqrt(complex(-4,-0.0))))
printf("%.15g %.15g\n", real(exp(1+2i)), imag(exp(1+2i)))
printf("%.15g %.15g\n", real(sqrt(3e-320+4e-320i))*1e160, imag(sqrt(1e308-1e308i)))
% a transform by its definition, a power
x = [1,2,0,-1,3,1,0,2]
s = 0
for k=0..7
    z = 0i
    for m=0..7
        z = z + x[m]*exp(-2i*pi*k*m/8)
    end
    s += abs(z) + abs(z^1.5) + real((z+1)^0.5i)
end
printf("%.12g\n", s)
