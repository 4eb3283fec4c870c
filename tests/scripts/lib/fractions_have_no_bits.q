% Bit functions need integers: a fraction, nan or a number beyond 64 bits is an error on every path, with its line.
function [] = __kernel__ from(x : vec, n : vec, y : vec[int64], which : int, pos : int)
    if which == 0
        y[pos] = shl(x[pos], 1)
    elseif which == 1
        y[pos] = shl(1, n[pos])
    elseif which == 2
        y[pos] = and(x[pos], 7)
    elseif which == 3
        y[pos] = or(8, x[pos])
    elseif which == 4
        y[pos] = xor(x[pos], n[pos])
    elseif which == 5
        y[pos] = not(x[pos])
    else
        y[pos] = x[pos] == floor(x[pos]) ? shr(x[pos], 1) : -1
    end
end
function [] = __kernel__ number(a : scalar, y : vec[int64], pos : int)
    y[pos] = or(a, 1)
end
function [] = __kernel__ literal(y : vec[int64], pos : int)
    y[pos] = shr(9.5, 1)
end
function [] = __kernel__ place(y : vec[int], pos : int)
    y[pos] |= 0.5
end

function [] = refused(f)
    try
        f()
        print "no error"
    catch e
        print e.line, ": ", e
    end
end

refused(() -> shl(2.5, 1))
refused(() -> shl(1, 2.5))
refused(() -> shr(0/0, 1))
refused(() -> shl(1, 1e300))
refused(() -> and(1.5, 1))
refused(() -> or(1, -0.5))
refused(() -> xor(2^63, 1))
refused(() -> not(1.5))

w = [4, 5, -6]
x = [1, 2.5, 3]
d = float64([1, 2, 1/0])
n = int([1, 2, 3])
refused(() -> shl(x, 1))
refused(() -> shl(n, x))
refused(() -> shl(1, x))
refused(() -> and(x, 1))
refused(() -> or(n, x))
refused(() -> xor(n, 1.5))
refused(() -> not(x))
refused(() -> not(d))
refused(() -> shr(d, 1) + 1)
refused(() -> and(w, x) .* 2 + 1)

print shl(w, 1), shl(n, w), and(w, 3), or(n, w), not(w), xor(w, n) .* 2, shr(w, 1.0)

y = int64(zeros(3))
for which = 0..6
    refused(() -> parallel_do(3, x, x, y, which, from))
    parallel_do(3, w, w, y, which, from)
    print y
end
refused(() -> parallel_do(3, 1.5, y, number))
parallel_do(3, 4.0, y, number)
refused(() -> parallel_do(3, y, literal))
refused(() -> parallel_do(3, n, place))

function [] = loops(x, which)
    t = 0
    y = int64(zeros(numel(x)))
    for i = 0..numel(x)-1
        if which == 0
            y[i] = shl(x[i], 1)
        elseif which == 1
            t += and(x[i], 3)
        elseif which == 2
            t += shr(5, x[i])
        else
            t += x[i] == floor(x[i]) ? not(x[i]) : int(0)
        end
    end
    print y, " ", t
end
for which = 0..3
    refused(() -> loops(x, which))
    refused(() -> loops(w, which))
end
