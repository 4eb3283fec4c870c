% exit: 1
% A range has as many elements in a kernel as on the host; of numbers of 32 bits, as far as they tell.
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

function [] = __kernel__ standing(y : vec, pos : int)
    for t = 0..0..5
        y[pos] += t
    end
end
parallel_do(1, y, standing)
