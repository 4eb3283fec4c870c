% options: --loops always
% Variables that are ints at first and other numbers later: integral versions assume that they are integral, and the
% exact version runs where one has a fraction, is -0, or needs more than 53 bits.
function [longest, at] = collatz(first, last, convert)
    longest = 0
    at = 0
    for start = first..last
        x = convert ? int(start) : start
        len = 0
        while x != 1
            x = mod(x,2) == 0 ? x/2 : 3*x+1
            len += 1
        end
        if len > longest
            longest = len
            at = start
        end
    end
end
function x = grow(start, n, factor)
    x = int64(start)
    for k = 1..n
        x = mod(x,3) == 0 ? floor(x/3) : factor*x + 1
        if mod(k,10) == 0
            x = int(x)
        end
    end
end
function [x, digits] = digits_of(start, base)
    x = int(start)
    digits = 0
    while x != 0
        digits = digits*10 + mod(x,base)
        x = trunc(x/base)
    end
end
[longest, at] = collatz(1, 3000, true)
print longest, " ", at
[longest, at] = collatz(1, 3000, false)
print longest, " ", at
for factor = [2, 4, 5, 2.5, -4, 1000]
    printf("%.17g", grow(7, 40, factor))
end
print type(grow(7, 40, 2)), " ", type(grow(7, 45, 2)), " ", type(grow(7, 0, 2))
[x, digits] = digits_of(123456, 10)
print x, " ", digits, " ", type(x)
[x, digits] = digits_of(-70, 8)
print 1/x, " ", digits
[x, digits] = digits_of(0, 8)
print x, " ", digits, " ", type(x)
s = int(0)
z = int(5)
for k = 1..60
    z = k == 20 ? -z*0 : z*3
    s += mod(z,7)
    if k == 30
        z = 2^53 - 1
    end
end
printf("%.17g %.17g", s, z)
print type(s), " ", type(z)

% A number that is not small before the loop, and an int from its end on.
function a = sums_of_both(s)
    a = int64(zeros(9))
    for i = 0..8
        count = 0
        while count < 12 && a[i] > -3
            count += 1
            a[mod(min(3,s),9)] += (s - mod(s,10))/10
        end
        s = min(and(s,255), a[mod(i,9)])
    end
end
print sums_of_both(2^52), sums_of_both(7)
