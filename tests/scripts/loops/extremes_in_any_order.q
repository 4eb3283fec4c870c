% options: --loops always
% Loops that look for an extreme, or add in a branch, become vectors and keep their values: NaN never wins, the first or
% the last of equal values does, and zeros keep their sign.
function [m, k] = first_largest(x, m)
    k = -1
    for i = 0..numel(x)-1
        if x[i] > m
            m = x[i]
            k = i
        end
    end
end
function [m, k] = last_smallest(x, m)
    k = -1
    for i = 0..numel(x)-1
        if x[i] <= m
            m = x[i]
            k = i
        end
    end
end
function [lo, hi] = range_of(x, lo, hi)
    for i = 0..numel(x)-1
        lo = min(lo, x[i])
        hi = max(x[i], hi)
    end
end
function [m] = first_zero(x, m)
    for i = 0..numel(x)-1
        m = x[i] > m ? x[i] : m
    end
end
% The second test is made only if the first one does not hold.
function [lo, hi, i0, i1] = alternatives(x, lo, hi)
    [i0, i1] = {-1, -1}
    for i = 0..numel(x)-1
        if x[i] < lo
            lo = x[i]
            i0 = i
        elseif x[i] >= hi
            hi = x[i]
            i1 = i
        end
    end
end
function [lo, hi] = alternative_bounds(x, lo, hi)
    for i = 0..numel(x)-1
        v = x[i]
        if v > hi
            hi = v
        elseif v < lo
            lo = v
        end
    end
end
function [few, many, rest, total] = counts(x)
    [few, many, rest, total] = {0, 0, 0, 0}
    for i = 0..numel(x)-1
        if isnan(x[i])
            continue
        end
        if x[i] < 10
            few += 1
        elseif x[i] < 60
            many += 2
            total += x[i]
        else
            rest -= 1
        end
    end
end
function y = rows(X)
    y = zeros(size(X, 0), 2)
    for i = 0..size(X, 0)-1
        best = X[i,0]
        for j = 1..size(X, 1)-1
            if X[i,j] > best
                best = X[i,j]
                y[i,0] = j
            end
        end
        y[i,1] = min(X[i,:])
    end
end
function [] = show(x, low, high)
    [m, k] = first_largest(x, low)
    [l, j] = last_smallest(x, high)
    [lo, hi] = range_of(x, high, low)
    [few, many, rest, total] = counts(x)
    print m, " ", k, " ", l, " ", j, " ", lo, " ", hi, " ", few, " ", many, " ", rest, " ", total
    for [a, b] = {{high, low}, {low, high}, {50, 50}, {nan, 7}}
        [lo, hi, i0, i1] = alternatives(x, a, b)
        [l, h] = alternative_bounds(x, a, b)
        print lo, " ", hi, " ", i0, " ", i1, " ", l, " ", h
    end
end
x = float(mod((0..99)*37, 101))
for n = {100, 20}
    y = copy(x[0..n-1])
    show(y, -inf, inf)
    y[3..7..n-1] = nan
    show(y, -inf, inf)
    show(y, nan, nan)
end
show(x, 1000, -1000)
show(nan*x, -inf, inf)
show(nan*x, nan, nan)
show(x[0..-1], nan, 3)
show(0*x - inf, -inf, -inf)
show(0*x + inf, inf, inf)

% The sign of a zero
for first = {0, -0.0}
    z = 0 - abs(x)
    z[0..49] = first
    z[50..99] = 0 - first
    [m, k] = first_largest(z, -inf)
    [lo, hi] = range_of(0 - z, inf, -inf)
    print 1/m, " ", k, " ", 1/lo, " ", hi, " ", 1/first_zero(z, -inf)
    [lo, hi] = range_of(z, 0, -inf)
    print lo, " ", 1/hi
    [lo, hi] = alternative_bounds(z, -0.0, -0.0)
    print 1/lo, " ", 1/hi
end
print rows(reshape(mod((0..399)*29, 401), [4,100]))

% Integers
show(int(mod((0..99)*53, 97)), int(-5), 1000)
