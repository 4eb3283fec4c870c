% options: --loops always
% Variables that begin as ints and become numbers in some iteration, and sums and differences of such variables.
function [low, high] = search(x, key)
    low = int(0)
    high = int(numel(x) - 1)
    while low < high
        middle = int(floor((low + high)/2))
        if x[middle] < key
            low = middle + 1
        else
            high = middle
        end
    end
end
function [n, inside] = runs(x, level)
    n = int(0)
    inside = false
    for i = 0..numel(x)-1
        above = x[i] > level
        if above && !inside
            n += 1
        end
        inside = above
    end
end
function [a, b] = exchange(a, b, n)
    for k = 1..n
        c = a + b
        if mod(k, 3) == 0
            a = c - int(1)
        elseif mod(k, 3) == 1
            b = -c
        else
            a = int(b) - a
            b = c
        end
    end
end
function z = signed(n)
    z = int(0)
    for k = 1..n
        z = k == 3 ? -z*0 : z
    end
end
x = float64(0..99).^2
[low, high] = search(x, 5000)
print low, " ", high, " ", type(low), " ", type(high)
[low, high] = search(x, -1)
print low, " ", high, " ", type(low), " ", type(high)
for level = [-1, 0.5, 0.99, 2]
    [n, inside] = runs(mod((0..999)*37, 101)/101, level)
    print n, " ", type(n), " ", inside
end
for n = [3, 10, 41, 170]
    [a, b] = exchange(int(7), int(3), n)
    printf("%.17g %.17g %s %s", a, b, type(a), type(b))
    [a, b] = exchange(int(7), 3, n)
    printf("%.17g %.17g %s %s", a, b, type(a), type(b))
end
[a, b] = exchange(int64(2^62), int(5), 1)
printf("%d %d %s %s", a, b, type(a), type(b))
try
    [a, b] = exchange(int64(2^62), int64(2^62), 2)
catch e
    print e.message
end
print 1/signed(2), " ", 1/signed(4), " ", type(signed(2)), " ", type(signed(4))
