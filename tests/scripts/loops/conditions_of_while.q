% options: --loops always --no-warnings
% A loop whose condition is a && b leaves where a is false, and evaluates b only where a holds.
function i = first_above(x, limit)
    i = 0
    while i < numel(x) && x[i] <= limit
        i += 1
    end
end
function x = sorted(x)
    x = copy(x)
    for i = 1..numel(x)-1
        key = x[i]
        j = i - 1
        while j >= 0 && x[j] > key
            x[j+1] = x[j]
            j -= 1
        end
        x[j+1] = key
    end
end
function [n, i] = three_parts(x)
    n = 0
    i = 0
    while i < numel(x) && (x[i] > 0 && mod(x[i], 7) != 3) && n < 50
        n += x[i]
        if n > 20
            i += 1
            continue
        end
        i += 2
    end
end
function y = twice(x)
    y = 2*x
end
function n = with_calls(x)
    n = 0
    k = 1
    while twice(k) < 100 && twice(x[k]) != 14 && true
        n += k
        k += 1
        for q = 1..2
            k += 1
        end
    end
    n = 1000*n + k
end
function n = fails(x)
    n = 0
    i = 0
    while n >= 0 && x[i] >= 0
        n += x[i]
        i += 1
    end
end
function n = shapes(x)
    n = 0
    v = [1, 2]
    while v && n < 5 && x[n] > 0
        v -= 0.25
        n += 1
    end
end
function n = never(x)
    n = 0
    while false && x[100] > 0
        n += 1
    end
    while n > 0 && x[-1 - n] > 0
        n += 1
    end
end
% A variable that was read keeps its value until it is set: in a branch, an inner loop, a function.
function [s, t] = read_again(x)
    s = 0
    t = 1
    k = 0
    while k < numel(x) && x[k] > -5
        a = t
        if x[k] > 3
            t += a
        end
        s += a + t
        for j = 0..2
            t -= j
            s += t
        end
        repeat
            t += 1
            a -= t
        until t > 3
        s += a - t
        k += 1
    end
end
x = mod((0..29)*7, 11)
y = mod((0..399)*37, 101)
print first_above(x, 8), " ", first_above(x, 100), " ", sum(sorted(y).*(0..399)), " ", all(sorted(y) == sort(y))
[n, i] = three_parts(x + 1)
print n, " ", i
print with_calls(y), " ", never(x)
[s, t] = read_again(x)
print s, " ", t
try
    print fails(x)
catch e
    print e.message
end
print fails([1, 2, 3, -1])
try
    print shapes(x + 1)
catch e
    print e.message
end
% The first operand counts the iterations: what the counter is afterwards, and where the second operand fails.
function [i, s] = counted(x, first, step, limit)
    i = first
    s = 0
    while i <= limit && twice(x[floor(i)]) < 16 && s < 60
        s += x[floor(i)]
        i += 2
    end
    while i > 3 && s < 1000
        s += i
        i -= 1.5
    end
    n = step
    while n > 0 && x[n] != 4
        s += 0.5
        n -= 1
    end
    i += 0.25*n
end
function [s, k] = inner(x)
    s = 0
    k = 0
    for i = 0..9
        j = i
        while j < numel(x) && x[j] + i < 12
            s += j*x[j]
            j += 3
            if s > 4000
                break
            end
        end
        k += j
        m = i - 1
        while 0 <= m && x[m+1] < x[m]
            m -= 1
        end
        k += 100*m
    end
end
for first = [0, 1.5, 7, -1, 40]
    try
        [i, s] = counted(x, first, 12, 29)
        print first, " ", i, " ", s
    catch e
        print first, " ", e.message
    end
end
try
    print counted(x, 0, 31, 8)
catch e
    print e.message
end
[s, k] = inner(x)
print s, " ", k
i = 0
found = 0
while i < 400 && y[i] != 36
    found += y[i]
    i += 1
end
print i, " ", found
try
    i = 399
    while i >= -5 && y[i] >= 0
        i -= 1
    end
catch e
    print i, " ", e.message
end
