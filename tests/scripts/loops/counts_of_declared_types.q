% options: --loops always
% A count whose variable has a declared integer type saturates.  The guard of a loop tests that it does not.
function n = above(x, n : int8)
    for i = 0..numel(x)-1
        if x[i] > 0.5
            n += 1
        end
    end
end
function [n, m] = both_ways(x, n0, m0)
    n : int8 = n0
    m : uint8 = m0
    for i = 0..numel(x)-1
        if x[i] > 0.5
            n += 2
            m -= 1
        else
            n = n - 1
            m = 3 + m
        end
    end
end
function y = rows(x, width)
    y = zeros(10)
    for i = 0..9
        n : int8 = 100
        for j = 0..i
            for k = 0..width-1
                if x[i+j+k] > 0.5
                    n += 1
                end
            end
        end
        n += 3
        y[i] = n
    end
end
function [n, longest] = run_lengths(x, least)
    n : int8 = least
    longest : uint8 = 0
    for i = 0..numel(x)-1
        if x[i] > 0.2
            n += 1
        else
            n = -5
        end
        longest = max(longest, n)
    end
end
function n = bytes(v, n0)
    n : int16 = n0
    for i = 0..numel(v)-1
        n += v[i]
    end
end
function [n, k] = downward(n0, first, step)
    n : uint8 = n0
    for k = first..step..0
        n -= 1
    end
end
function n = other_values(x, n0)
    n : int8 = n0
    for i = 0..numel(x)-1
        n += 1
        n = n + 1
        if x[i] > 0.9
            n = floor(n/2)
        end
    end
end
function [n, i] = endless(most)
    n : int8 = 0
    i = 0
    while i < most
        n += 1
        i += 1
    end
end
function c = sizes()
    c = int(zeros(3))
    for i = 0..2
        n : int = 2147483640
        for j = 1..4*i
            n += 1
        end
        c[i] = n - 2147483000
    end
end
x = mod((0..299)*37, 101)/101
for n = [0, 100, -128, 127]
    for count = [0, 7, 60, 300]
        printf("%d", above(x[0..count-1], n))
    end
end
for n = [0, 120, -128]
    for m = [0, 3, 250]
        for count = [3, 20, 300]
            [a, b] = both_ways(x[0..count-1], n, m)
            printf("%d %d %s %s", a, b, type(a), type(b))
        end
    end
end
for width = [1, 2, 9]
    print rows(x, width)
end
for least = [-128, 100, 127]
    [n, longest] = run_lengths(x, least)
    print n, " ", longest
end
v = uint8(mod((0..999)*7, 256))
for n = [0, 30000, -32768]
    for count = [10, 128, 1000]
        printf("%d", bytes(v[0..count-1], n))
    end
end
for n = [5, 255]
    for step = [-1, -3, -100]
        [a, k] = downward(n, 40, step)
        printf("%d %d", a, k)
    end
end
for n = [0, 126]
    print other_values(x, n)
end
for most = [5, 127, 128, 1000]
    [n, i] = endless(most)
    print n, " ", i
end
print sizes()
