% [m, i] = max(x, [], dim) and min, beside transposed lines, the extremes alone and the elements at the positions.
function bad = differs(x, f)
    [m, i] = f(x, [], 1)
    [n, j] = f(transpose(x), [], 0)
    least = f(x, [], 1)
    bad = !equal_but_nan(m, least) || !equal_but_nan(m, transpose(n)) || any(i != transpose(j)) || type(m) != type(least)
    for k = 0..size(x,0)-1
        row = x[k,:]
        [best, at] = f(row)
        bad = bad || at != i[k,0] || !equal_but_nan(row[at], m[k,0]) || !equal_but_nan(best, m[k,0])
        bad = bad || any(row[0..at-1] == m[k,0]) && at > 0
    end
end

function same = equal_but_nan(x, y)
    same = all(isnan(x) == isnan(y)) && all(where(isnan(x), 0, x) == where(isnan(y), 0, y))
end

randseed(4)
wrong = 0
for n = [1,2,4,5,6,9,31,64,2047,2048,2049,5000,70000]
    x = round(100*randn(3, n))
    x[x == 7] = nan
    x[1,:] = where(x[1,:] > -50, nan, -inf)
    for f = {u -> u, float64, float16}
        wrong += differs(f(x), max) + differs(f(x), min)
    end
    x = where(isnan(x) || x == -inf, 3, x)
    for f = {int8, int16, int32, int64, u -> uint8(u+100), u -> uint16(u+500), u -> uint32(u+500), u -> uint64(u+500), u -> u > 20}
        wrong += differs(f(x), max) + differs(f(x), min)
    end
end
print "wrong ", wrong

% -0 is less than 0, but the position is that of the first zero.
z = [-0.0, nan, 0, -0.0, -1]
z[0] = -1/inf
z[3] = -1/inf
for f = {u -> u, float64}
    y = f(z)
    [m, i] = max(y)
    [n, j] = min(y[0..3])
    print 1/m, " ", i, " ", 1/n, " ", j, " ", find_index_max(y), " ", find_index_min(-y)
end
[m, i] = max(zeros(2,3000)/0, [], 1)
print m, i
