% options: --loops always --explain
% Integral numbers become ints of declared parameters, so that calls with numbers and with ints share one function.
function [] = order(x, spare, lo : int, hi : int)
    if hi - lo < 2
        return
    end
    mid = floor((lo + hi)/2)
    order(x, spare, lo, mid)
    order(x, spare, mid, hi)
    i = lo
    j = mid
    for k = lo..hi-1
        if i < mid && (j >= hi || x[i] <= x[j])
            spare[k] = x[i]
            i += 1
        else
            spare[k] = x[j]
            j += 1
        end
    end
    for k = lo..hi-1
        x[k] = spare[k]
    end
end
function s = parts(n : uint8, least)
    s = 1
    for k = least..n/2
        s += parts(n - k, k)
    end
end
function s = steps(n : int)
    s = n == 1 ? 0 : 1 + steps(mod(n, 2) == 0 ? n/2 : 3*n + 1)
end
x = mod((0..39)*17, 41)
for k = 1..2
    order(x, zeros(40), 0, 40)
end
order(x, zeros(40), int(5), 40)
print x
for n = {12, int(12), true, -0, 0.5, 300, -1}
    try
        print parts(n, 1), " ", steps(27 + n)
    catch e
        print e
    end
end
try
    print steps(-0 + 3), " ", steps(2^31 - 1)
catch e
    print e
end
