% options: --loops always --explain
% One range with vectors as bounds gives each counter its own bounds, also in loops inside a compiled one; with numbers,
% all counters have the same bounds.
function s = total(n)
    s = 0
    for k = 0..n-1
        for [i, j] = 0..[1, 2]
            s += 100*i + 10*j + k
        end
        for [i, j] = [0, 1]..2
            s += i*j
        end
        for [i, j] = 0..2
            s += 1
        end
        [a] = k
        s += a
    end
end
print total(4)
function [] = __kernel__ same(y : vec, pos : int)
    s = 0.0
    for [i, j] = 0..[1, 2]
        s += 100*i + 10*j + pos
    end
    for [i, j] = [0, 1]..2
        s += i*j
    end
    for [i, j] = 0..2
        s += 1
    end
    y[pos] = s + pos
end
y = zeros(4)
parallel_do(4, y, same)
print sum(y)
