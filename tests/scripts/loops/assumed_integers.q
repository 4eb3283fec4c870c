% options: --loops always
% Loops that compute remainders and rounded quotients assume that their variables are integers below 2^53.  Where the
% assumption fails, the results are those of numbers.
function [x, steps] = collatz(x)
    steps = 0
    while x != 1 && steps < 1000
        if mod(x, 2) == 0
            x /= 2
        else
            x = 3*x + 1
        end
        steps += 1
    end
end
function [x, digits] = grow(x, factor, n)
    digits = int(zeros(n))
    for k = 0..n-1
        digits[k] += mod(x, 10)
        x = x*factor + k
    end
end
function [s, x] = remainders(x, m, n)
    s = 0
    for k = 1..n
        s += mod(x, m)
        x += 7
        m -= 1
    end
end
function x = halves(x, n)
    for k = 1..n
        x = floor((x - k)/2)
    end
end
function z = negated(n)
    z = 1
    for k = 1..n
        z = -mod(k*z, 3)
    end
end
function [i, found] = search(a, wanted)
    lo = int(0)
    hi = numel(a)
    while lo < hi
        i = floor((lo + hi)/2)
        if a[i] < wanted
            lo = i + 1
        else
            hi = i
        end
    end
    i = lo
    found = lo < numel(a) && a[lo] == wanted
end
for start in [27, 97, 0, -3]
    [x, steps] = collatz(start)
    print start, " ", x, " ", steps
end
[x, steps] = collatz(27.5)
print x, " ", steps
[x, steps] = collatz(2^53 - 1)
print x, " ", steps
for factor in [1, 3, 10, -7]
    [x, digits] = grow(3, factor, 40)
    printf("%.17g\n", x)
    print digits
end
[s, x] = remainders(100, 12, 30)
printf("%.17g %.17g\n", s, x)
[s, x] = remainders(-100, 12, 11)
printf("%.17g %.17g\n", s, x)
printf("%.17g %.17g %.17g\n", halves(1000000, 12), halves(-7, 20), halves(1e18, 3))
printf("%.17g %.17g\n", 1/negated(3), negated(5))
[i, found] = search(2*(0..99), 122)
print i, " ", found
[i, found] = search(2*(0..99), 199.5)
print i, " ", found
