% devices: ref cpu
% options: --loops always --explain
% Variables, parameters, results and conversions of the types bool, float32 and float64 in compiled loops.
function r:bool = is_odd(n : int)
    r = mod(n, 2)
end
function d:int = days(y : int, leap : bool)
    d = leap ? 366 : 365
end
function [n, words] = count(x)
    n = 0
    inside : bool = false
    words = zeros(1, 3)
    for i = 0..numel(x)-1
        word : bool = x[i]
        n += word && !inside
        inside = word
        words[mod(i,3)] += days(i, x[i])
    end
end
function [s, t, last] = convert(x)
    [s, t] = {0, int(0)}
    last : bool = int(3)
    for i = 0..numel(x)-1
        y : float64 = x[i]
        z : float32 = y/3
        s += z - float64(i) + float32(bool(y))*0.5
        t += is_odd(i)
        last = y
    end
end
function [n, steps] = settle(n : int, up : bool)
    steps = 0
    if n > 1
        [m, steps] = settle(up ? n - 1 : floor(n/2), mod(n, 4))
        n = m + up
        steps += 1
    end
    steps = min(steps, 50)
end
function last = limited(n)
    last = 0
    for k = 1..n
        [m, steps] = settle(k, false)
        last += steps + m
    end
end
x = [0, 1, -0.0, nan, 0.5, 0, 0, -inf, 1e-30, 0]
[n, words] = count(x)
print n, " ", words
[s, t, last] = convert([0, 1, 2.5, 1/3, -0.0, 7])
printf("%.9g %d %s %d %s", s, t, type(t), last, type(last))
print limited(12)
