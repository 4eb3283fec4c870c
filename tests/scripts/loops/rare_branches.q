% Loops that run in parallel or vectorised, except for the iterations that reach a statement for the interpreter, or an
% error: results, output and its order are as in the interpreter.

function [] = maps(x, y)
    for i = 0..numel(x)-1
        y[i] = sqrt(abs(x[i]))*2 + 1
        if x[i] < 0
            print "negative at ", i, ": ", y[i]
        end
    end
    print "the counter is ", i
end

function s = sums(x, every)
    s = 0
    for i = 0..numel(x)-1
        s += x[i]
        if mod(i, every) == every - 1
            print "after ", i, ": ", s
        end
    end
end

% the branch changes variables that nothing else in the loop changes, and one that it sums up
function [s, reports, last] = limited(x)
    [s, reports, last] = [0, 0, -1]
    for i = 0..numel(x)-1
        s += x[i]
        if x[i] < 0 && reports < 2
            last = i
            print "report ", reports, " at ", i
            reports += 1
            s -= x[i]
        end
    end
end

function [] = fails(x, y, how)
    for i = 0..numel(x)-1
        y[i] = x[i] + 1
        if x[i] < -1
            if how == 0
                error("too small")
            else
                error(f"{x[i]} at {i} is too small")
            end
        end
        y[i] = 2*y[i]
    end
end

function s = fails_in_sum(x)
    s = 0
    for i = 0..numel(x)-1
        if x[i] < -1
            error("too small in a sum")
        end
        s += x[i]
    end
end

function [] = asserts(x, y)
    for i = 0..numel(x)-1
        assert(x[i] >= -1, f"x[{i}] is {x[i]}")
        y[i] = x[i]
    end
end

% the condition needs an element that the same iteration has stored: this loop has no scan
function n = reads_stored(x, y)
    n = 0
    for i = 0..numel(x)-1
        y[i] = 3*x[i]
        if y[i] < -3
            n += 1
            print "stored ", y[i]
        end
    end
end

% the element is read, and replaced afterwards
function [] = in_place(x)
    for i = 0..numel(x)-1
        if x[i] < 0
            print "in place ", i
        end
        x[i] = x[i]*0.5
    end
end

function t = nest(a, b)
    t = 0
    for [i, j] = 0..size(a)-1
        b[i, j] = a[i, j] + 1
        if a[i, j] < 0
            print "nest ", i, " ", j, " ", b[i, j]
        end
        t += a[i, j]
    end
end

function [] = nest_fails(a, b)
    for i = 0..size(a, 0)-1
        for j = 0..size(a, 1)-1
            b[i, j] = a[i, j]*2
            if a[i, j] < 0
                error(f"nest fails at {i} {j}")
            end
        end
    end
end

function h = histogram(k)
    h = zeros(4)
    for i = 0..numel(k)-1
        h[mod(i, 4)] += k[i]
        if k[i] < -1
            print "histogram ", i
        end
    end
end

function [k, s] = counted(x)
    [k, s] = [0, 0]
    while k < numel(x)
        s += x[k]
        if x[k] < -1
            print "while ", k, " ", s
        end
        k += 1
    end
end

function s = over_items(x)
    s = 0
    for v in x
        s += v
        if v < -1
            print "item ", v, " ", s
        end
    end
end

function p = product(x)
    p = 1
    for i = 0..numel(x)-1
        p *= x[i] < 0 ? 1 : 1 + mod(i, 2)*0.5
        if mod(i, 70) == 60
            print "product ", p
            p = 1
        end
    end
end

function best = extreme(x)
    best = -inf
    for i = numel(x)-1..-1..0
        best = max(best, mod(x[i]*17, 1013))
        if x[i] < -1
            print "extreme ", i, " ", best
        end
    end
end

function [s, v] = keeps_last(x)
    [s, v] = [0, 0]
    for i = 0..numel(x)-1
        if x[i] < -1
            print "before: ", v
        end
        v = x[i]*2
        s += v
    end
end

function [n, y] = returns(x)
    [n, y] = [0, zeros(numel(x))]
    for i = 0..numel(x)-1
        y[i] = i
        if x[i] < -1
            print "returns at ", i
            n = i
            return
        end
    end
end

x = mod((0..999)*7, 31)*1
y = zeros(1000)
maps(x, y)
print sums(x, 400)
x[[3, 500, 501, 999]] = -1
maps(x, y)
print sum(y), " ", sums(x, 37)
print limited(x)
x[700] = -2
print limited(x)
for how = 0..1
    y[:] = 0
    try
        fails(x, y, how)
    catch e
        print e, " ", sum(y != 0), " ", y[698..702]
    end
end
try
    print fails_in_sum(x)
catch e
    print e
end
y[:] = 0
try
    asserts(x, y)
catch e
    print e, " ", sum(y != 0), " ", y[698..702]
end
print reads_stored(x, y)
print histogram(x)
print counted(x)
print over_items(x)
print product(x)
print extreme(x)
print keeps_last(x)
[n, z] = returns(x)
print n, " ", sum(z)
in_place(x)
print sum(x)
a = reshape(mod((0..1239)*5, 11)*1, 31, 40)
b = zeros(size(a))
print nest(a, b)
a[[3, 17, 30], [0, 20, 39]] = -1
print nest(a, b)
b[:, :] = 0
try
    nest_fails(a, b)
catch e
    print e, " ", sum(sum(b != 0))
end

% at the top level; the variables keep their values behind the loop
total = 0
for k = 0..2..2999
    w = k*3
    total += w
    if mod(k, 1024) == 512
        print k, " ", w, " ", total
        total = 0
    end
end
print total, " ", k, " ", w
