% Sums in an element, which each iteration rounds to float32, have the same bits in blocks as one by one.
% options: --loops always --no-warnings
function s = in_blocks(a, b, s)
    s = copy(s)
    u = zeros(numel(s))                  % keeps the outer loop in order
    n = numel(a)
    for i = 1..numel(s)-3
        u[i] = u[i-1] + 1
        for k = 0..n-1
            s[i] += a[k]*b[k]
        end
        for k = 0..n-1
            s[i+1] -= a[k]*b[k]
        end
        for k = n-1..-1..0
            s[i] = a[k] + s[i]
        end
        for k = 0..2..n-1
            t = a[k]*b[k] + b[k]
            s[i+2] = s[i+2] - t
            s[i] = 0.1*a[k]^2 + s[i]
        end
    end
end
function s = one_by_one(a, b, s)
    s = copy(s)
    u = zeros(numel(s))                  % keeps the outer loop in order
    n = numel(a)
    for i = 1..numel(s)-3
        u[i] = u[i-1] + 1
        for k = 0..n-1
            if k >= 0
                s[i] += a[k]*b[k]
            end
        end
        for k = 0..n-1
            if k >= 0
                s[i+1] -= a[k]*b[k]
            end
        end
        for k = n-1..-1..0
            if k >= 0
                s[i] = a[k] + s[i]
            end
        end
        for k = 0..2..n-1
            if k >= 0
                t = a[k]*b[k] + b[k]
                s[i+2] = s[i+2] - t
                s[i] = 0.1*a[k]^2 + s[i]
            end
        end
    end
end
function y = same(a, b)
    y = all(or(and(a == b, 1./a == 1./b), and(a != a, b != b)))
end
function [] = compare(what, a, b)
    good = 0
    tried = 0
    for s = [0, 1, -1, 1000, 0.3, 2^24, -2^23, 1e-38, 3e38]
        for n = [0, 1, 31, 32, 33, 64, 100, numel(a)]
            x = a[0..n-1]
            y = b[0..n-1]
            start = s*ones(8)
            good += same(in_blocks(x, y, start), one_by_one(x, y, start))
            tried += 1
        end
    end
    printf("%s: %d of %d", what, good, tried)
end
n = 3000
a = rand(n)
b = rand(n)
compare("positive", a, b)
compare("both signs", a - 0.5, b - 0.5)
compare("slowly", a/n, b)
compare("integers", floor(1000*a), floor(1000*b))
compare("halves", floor(8*a)/2, 2.^floor(3*b))
compare("many sizes", 2.^floor(40*a - 20), b - 0.5)
compare("subnormal", a*1e-39, b)
compare("large", a*1e37, b)
compare("zeros", 0*a, -b)
compare("one term", a.*(b > 0.99), b)
c = copy(a)
c[1500] = nan
compare("nan", c, b)
c[1500] = inf
compare("infinite", c, b)
