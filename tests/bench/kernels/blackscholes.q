% Prices of European call options.
import "measure.q"

function [] = __kernel__ price(s : vec, k : vec, t : vec, c : vec, pos : int)
    r = 0.02
    v = 0.3
    root = v*sqrt(t[pos])
    d1 = (log(s[pos]/k[pos]) + (r + 0.5*v*v)*t[pos])/root
    d2 = d1 - root
    n1 = 0.5*erfc(-0.70710678*d1)
    n2 = 0.5*erfc(-0.70710678*d2)
    c[pos] = s[pos]*n1 - k[pos]*exp(-r*t[pos])*n2
end

function c = prices(s, k, t, c)
    parallel_do(numel(s), s, k, t, c, price)
end

function [] = main()
    n = 1048576
    s = 10 + 20*pattern(n, 37, 1021)
    k = 10 + 20*pattern(n, 53, 1019)
    t = 0.25 + 2*pattern(n, 71, 1013)
    c = zeros(n)
    measure(() -> prices(s, k, t, c))
end
