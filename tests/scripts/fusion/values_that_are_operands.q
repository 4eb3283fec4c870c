% options: --loops always
% real(x), conj(x) and conversions to the type that x has are x itself, also beside statements that are compiled.
function r = by_real(x)
    y = real(x)
    z = y + y
    y[0] = 0
    r = [x[0], sum(z)]
end
function r = by_conversion(x)
    y = float(x)
    z = y.*2 + 1
    y[0] = 0
    r = [x[0], sum(z)]
end
function r = by_both(x)
    t = x.*2
    y = conj(float(real(t)))
    z = y + 1
    y[0] = 0
    r = [t[0], sum(z)]
end
function r = by_lambda(x)
    same = v -> conj(v)
    y = same(x)
    z = y + same(y)
    y[0] = 0
    r = [x[0], sum(z)]
end
function r = alone(x)
    y = float64(x)
    z = float64(x)
    y[0] = 0
    z[1] = 0
    r = [x[0], x[1]]
end
for n = {8, 200000}
    for f = {by_real, by_conversion, by_both, by_lambda, alone}
        print f(ones(n)), " ", f(float64(ones(n))), " ", f(uint8(ones(n)))
    end
end
