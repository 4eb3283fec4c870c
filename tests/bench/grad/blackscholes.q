% Prices of European call options, and their sensitivity to the price of the stock.
import "race.q"

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

function x = value(s, k, t)
    c = uninit(size(s))
    parallel_do(numel(s), s, k, t, c, price)
    x = sum(c)
end

function [] = main()
    n = 1048576
    s = 10 + 20*pattern(n, 37, 1021)
    k = 10 + 20*pattern(n, 53, 1019)
    t = 0.25 + 2*pattern(n, 71, 1013)
    race(() -> value(s, k, t), () -> grad(s -> value(s, k, t), s))
end
