% options: --loops always --explain
% Arguments and results of functions that call themselves may be ints, numbers and truth values in turn.
function c = f(a, n)
    c = 0
    if n > 2
        c = a[n]
        if c > 3
            c = a[n] + f(a, n-1)
        end
    elseif n > 1
        c = n > 1.5
    elseif n < -3
        c = 0.5
    end
end
function y = g(n, x)
    y = x
    if n > 0
        y = g(n-1, n > 3 ? x + 1 : n > 2 ? int(x) : n > 1 ? x > 3 : x*x)
    end
end
function [] = show(x)
  printf("%s %.17g\n", type(x), x)
end
a = int(-2..20)
for k = -5..20
    show(f(a, k))
    show(g(k, 3))
    show(g(k, int(3)))
    show(g(k, 3.5))
end
s = 0
for k = -5..20
    s += f(a, k) + g(k, 4)
end
show(s)
function [low, high] = range_of(x, from, to)
    low = 0
    high = 0.5
    if to - from == 1
        low = x[from]
        high = x[from]
    elseif to > from
        mid = floor((from + to)/2)
        [a, b] = range_of(x, from, mid)
        [c, d] = range_of(x, mid, to)
        low = min(a, c)
        high = max(b, d)
    end
end
for n = [0, 1, 2, 23]
    [low, high] = range_of(a, 0, n)
    show(low)
    show(high)
end
function y = wide(n)
    y = 1
    if n > 0
        y = n > 40 ? 4611686018427387905*wide(n-1) : n > 38 ? int(4611686018427387905) : wide(n-2)
    end
end
for n = [5, 39, 40, 41, 42]
    try
        show(wide(n))
    catch e
        print e, " ", e.line
    end
end
