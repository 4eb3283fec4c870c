% Integral quotients rounded down and toward zero, of negative numbers, too.
% options: --loops always
function [down, cut, rest] = sums(from, to, step, y)
    down = 0
    cut = 0
    rest = 0
    for x = from..step..to
        down = 3*mod(down, 1000) + floor(x/y)
        cut = 3*mod(cut, 1000) + trunc(x/y)
        rest += mod(x, y)
    end
end
function [digits, count] = digits_of(x)
    digits = 0
    count = 0
    while x > 0
        digits += mod(x, 10)
        x = floor(x/10)
        count += 1
    end
end
for y = [1, 2, 3, 7, 10, 64, 1000]
    [down, cut, rest] = sums(-50, 50, 1, y)
    print y, ": ", down, " ", cut, " ", rest
    [down, cut, rest] = sums(-2^53+1, 2^53-1, 2^47-1, y)
    print y, ": ", down, " ", cut, " ", rest
end
[down, cut, rest] = sums(-20, 20, 0.5, 3)
print down, " ", cut, " ", rest
for x = {0, 7, 10, 123456789, 2^53-1, -5, 1e15+1, int(4321), 0.5, 12.75, -0.0}
    [digits, count] = digits_of(x)
    print x, " ", digits, " ", count
end
lowest = 0
for x = -1..-1..-40
    q = floor(x/8)
    if x < -16
        q = floor(x/5)
    end
    lowest = lowest*2 + q
end
print lowest
