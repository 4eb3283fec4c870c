% exit: 1
% A range has as many elements in a kernel as on the host, up to the precision of 32-bit numbers.
function [] = __kernel__ literal(y : vec, pos : int)
    n = 0
    for t = 0..0.1..0.99999
        n += 1
    end
    y[0] = n
    y[1] = numel(0..0.1..0.99999)
    y[2] = numel(0.1..0.1..0.7)
    m = 0
    for t = 5..-0.1..0
        m += 1
    end
    y[3] = m
    for t = 1..0.25..2.1
        y[4] = t
    end
    for t = 2..0.5..1
        y[5] = 1
    end
end
y = zeros(6)
parallel_do(1, y, literal)
print y
print [numel(0..0.1..0.99999), numel(0..0.1..0.99999), numel(0.1..0.1..0.7), numel(5..-0.1..0)]

function [] = __kernel__ given(lo : scalar, step : scalar, hi : scalar, x : vec, y : vec, pos : int)
    n = 0
    for t = lo..step..hi
        n += 1
    end
    m = 0
    for t = x[0]..x[1]..x[2]
        m += 1
    end
    y[0] = n
    y[1] = m
end
differ = 0
for step = [0.1, 0.0013, 0.001, 0.37, 1/3, -0.1, -0.7, 12.5]
    for n = [0, 1, 7, 10, 99, 1000, 4999, 20000]
        for lo = [0, 0.3, -2, 9.87]
            for off = [0, 0.3]
                hi = lo + (n + off)*step
                y = zeros(2)
                parallel_do(1, lo, step, hi, [lo,step,hi], y, given)
                if any(y != numel(lo..step..hi))
                    print lo, "..", step, "..", hi, ": ", numel(lo..step..hi), ", in a kernel ", y
                    differ += 1
                end
            end
        end
    end
end
print differ
y = zeros(2)
parallel_do(1, 0, 0.5, nan, [0,0,1], y, given)
print y

% Distant bounds that are a fraction of a step short of an element: no element is beyond them.
function [] = __kernel__ far(lo : vec, step : vec, hi : vec, y : vec[int], pos : int)
    for t = lo[pos]..step[pos]..hi[pos]
        y[pos] += 1
    end
end
lo = float32([0, 0.5, 0, 7.25])
step = float32([0.5, 1, -0.5, -1])
hi = float32([999999.375, 2097152.25, -999999.375, -1048568.625])
y = int(zeros(4))
parallel_do(4, lo, step, hi, y, far)
print y
print [numel(0..0.5..hi[0]), numel(0.5..1..hi[1]), numel(0..-0.5..hi[2]), numel(7.25..-1..hi[3])]
function [] = __kernel__ short_of(lo : vec, step : vec, n : vec, short : scalar, differ : vec[int], pos : int)
    hi = lo[pos] + (n[pos] - short)*step[pos]
    k : int = 0
    for t = lo[pos]..step[pos]..hi
        k += 1
    end
    differ[pos] = k - n[pos] - (short == 0)
end
n = [1, 3, 10, 100, 1000, 4099, 30011, 123457]
for short = [0, 0.125, 0.25, 0.5, 0.75]
    for step = [0.1, 0.5, 1, 1/3, -0.1, -1]
        differ = int(zeros(8))
        parallel_do(8, zeros(8), zeros(8) + step, n, short, differ, short_of)
        if any(differ != 0)
            print "steps of ", step, ", ", short, " short: ", differ
        end
    end
end

% A range with nan, or from infinity, has no iterations; steps unknown when the kernel is compiled may be negative.
function [] = __kernel__ odd(a : int, s : int, x : vec, y : vec, pos : int)
    for t = x[0]..x[1]..x[2]
        y[0] += 1
    end
    for t = 0..x[2]
        y[1] += 1
    end
    for t = a..-1..x[2]
        y[2] += 1
    end
    for t = a..s..x[2]
        y[3] += 1
    end
    for t = x[0]..x[2]
        y[4] += 1
    end
end
function [] = turns(x, a, s)
    y = zeros(5)
    parallel_do(1, a, s, x, y, odd)
    print y
end
turns([0, 0.5, nan], 2, 1)
turns([0, 0.5, nan], 2, -1)
turns([-inf, 1, 5], 2, 1)
turns([inf, -1, 5], 2, 2)
turns([nan, 1, 5], 2, 1)
turns([0, 1, 2.5], 5, -1)
turns([0, -1, -2.5], 5, -2)
function [] = __kernel__ known(y : vec, pos : int)
    for t = 0..nan
        y[0] += 1
    end
    for t = 0..-1..nan
        y[1] += 1
    end
    for t = -inf..1..5
        y[2] += 1
    end
    for t = inf..-1..5
        y[3] += 1
    end
    for t = 0..2.5
        y[4] += 1
    end
    for t = 0..-1..-2.5
        y[5] += 1
    end
end
y = zeros(6)
parallel_do(1, y, known)
print y

function [] = __kernel__ standing(y : vec, pos : int)
    for t = 0..0..5
        y[pos] += t
    end
end
parallel_do(1, y, standing)
