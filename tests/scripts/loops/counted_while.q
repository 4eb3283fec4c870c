% options: --loops always --no-warnings
% A `while` whose counter changes by a constant is compiled as a counted loop, with the results of the `while`.
function y = doubled(x)
    y = zeros(1, numel(x))
    i = 0
    while i < numel(x)
        y[i] = 2*x[i]
        i += 1
    end
    print i
end
print doubled(1..5)

% downwards, the step in the middle of the body, the condition turned
x = 1..7
i = numel(x) - 1
while 0 <= i
    x[i] = x[i] + i
    i = i - 2
    y = i
end
print x, " ", i, " ", y

% no iteration
i = 4
while i < 3
    i += 1
end
print i

% a start with a fraction, and one that is -0
i = 0.5
n = 0
while i < 3
    n += 1
    i += 1
end
print i, " ", n
i = -0.0
while i < 2
    print 1/i
    i += 1
end

% the bound changes in the body, or in a function
n = 3
i = 0
while i < n
    n -= 1
    i += 1
end
print i, " ", n
function [] = shrink()
    n = n - 1
end
n = 6
i = 0
while i < n
    shrink()
    i += 1
end
print i, " ", n

% `break` leaves the counter as it is, and so does an error
i = 0
while i < 10
    if x[i] > 6
        break
    end
    i = 1 + i
end
print i
i = 3
try
    while i <= 10
        x[i] = 0
        i += 2
    end
catch e
    print e, " (line ", e.line, ", i = ", i, ")"
end
print x

% declared counters
i : int = 2147483640
k = 0
while i < 2147483646
    i += 1
    k += 1
end
print i, " ", k, " ", type(i)
j : uint8 = 250
k = 0
while j < 255
    j += 1
    k += 1
    if k > 9
        break
    end
end
print j, " ", k
function s = typed(n : int)
    i : int64 = 0
    s = 0
    while i < n
        s += i
        i += 1
    end
end
print typed(100)
function k = steps(n)
    k = 0
    i = 0
    while i < n
        i = i + 1
        if i == 4
            continue
        end
        k += 1
    end
end
print steps(6)
function k = first_above(x, v)
    k = 0
    while k < numel(x)
        if x[k] > v
            return
        end
        k += 1
    end
    k = -1
end
print first_above([1,5,9], 4), " ", first_above([1,5,9], 10)
