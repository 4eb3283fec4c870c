% options: --loops always --explain
% Numbers that are indices or in remainders are assumed to be integral in functions that call themselves.  If one is
% not, or is -0 or large, the interpreter makes the call, and the function is compiled again without assumptions.
function s = walk(x, at, left)
    if left == 0
        s = 1/at
    else
        s = x[mod(at, 5)] + walk(x, at + 3, left - 1)
    end
end
function s = halves(n)
    s = n < 1 ? 1/n : mod(n, 2) + halves(floor(n/2))
end
function s = falls(n, by)
    s = n < 20 && mod(n, 3) < 1 ? 1/n : 1 + falls(n - by, by)
end
function [] = fill(y, at, n)
    if n > 0
        y[at] += 1
        fill(y, mod(at + n, 7), n - 1)
    end
end
x = [1,2,3,4,5]
print walk(x, 0, 9), " ", walk(x, 2, 9), " ", walk(x, -30, 10), " ", walk(x, -0, 0)
print walk(x, 0.5, 4), " ", walk(x, 0, 9)
print halves(100), " ", halves(0), " ", halves(-0), " ", halves(2^40 + 1), " ", halves(3.75), " ", halves(100)
print falls(30, 1), " ", falls(30.5, 0.5), " ", falls(2^33, 2^30), " ", falls(15, 15)
y = zeros(7)
fill(y, 2, 40)
print y
try
    fill(y, 8, 3)
catch e
    print e, " ", y
end
try
    print falls(inf, inf)
catch e
    print e
end
