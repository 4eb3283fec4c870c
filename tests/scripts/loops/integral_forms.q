% Loops over integral numbers in several forms: bit operations on numbers, and quotients that are exact.
% options: --loops always
function [steps, x] = halve(x)
    steps = 0
    while x != 1 && steps < 60
        if and(x, 1) == 0
            x = shr(x, 1)
        else
            x = 3*x + 1
        end
        steps += 1
    end
end
function [s, x] = shifts(x, n)
    s = 0
    for k = 0..n
        x = shl(x, 1)
        s = xor(s, x)
    end
end
function [s, x] = back(x, n)
    s = 0
    for k = 0..n
        x = shl(x, k - 2)
        s = or(s, x)
        x = shr(x, 3)
    end
end
function s = digits(x)
    s = 0
    while x > 0
        d = mod(x, 10)
        s += d
        x = (x - d)/10
    end
end
function s = digits_below(n)
    s = 0
    for k = 1..n-1
        x = k
        while x > 0
            d = mod(x, 10)
            s += d*d
            x = (x - d)/10
        end
    end
end
for x = {1, 7, 27, 2^52, 2^53-1, 2^53, 2^53+2, 2^62, -5, -2^53, 0, -0.0}
    [steps, last] = halve(x)
    printf("%d %.0f\n", steps, last)
end
for n = [1, 10, 51, 52, 53, 60]
    [s, x] = shifts(3, n)
    printf("%.0f %.0f", s, x)
    [s, x] = shifts(-3, n)
    printf(" %.0f %.0f", s, x)
    [s, x] = back(12345, n)
    printf(" %.0f %.0f\n", s, x)
end
for x = {0, 9, 1234, 2^53-1, 2^60, -3, 12.5, int(77)}
    print digits(x)
end
print digits_below(2000)
function message = failure(f)
    message = "none"
    try
        f()
    catch e
        message = e
    end
end
print failure(() -> halve(1.5)), "; ", failure(() -> shifts(2.5, 3)), "; ", failure(() -> halve(1e300))
printf("%d|%5d|%-5d|%+d|%05d|%.3d|%i|%d|%d|%d\n", 42, 42, 42, 42, 42, 42, -7, 2^62, int(-3), true)
printf("%d %d\n", 1/0, 1e300)
