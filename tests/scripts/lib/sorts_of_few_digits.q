% Long lines whose keys differ in few bits, such as small integers as floats, are sorted by counting.
function y = expected(x) % by counting: all elements are multiples of `step` from `first` on
    first = min(x)
    step = 0.5
    counts = bincount(int((x - first)/step))
    y = float64(zeros(1, numel(x)))
    at = 0
    for k = 0..numel(counts)-1
        y[0, at..at+counts[k]-1] = first + step*k
        at += counts[k]
    end
end
rng(4)
n = 1200000
small = floor(200*rand(n))/2 - 7
for x = {small, float64(small), floor(256*rand(n)), float64(1 + floor(255*rand(n))), int32(floor(100*rand(n))*1024),
    int64(floor(float64(100*rand(n)))*2^40), -floor(100*rand(n)), zeros(n) + 3}
    scale = max(abs(x)) > 10000 ? max(abs(x))/100 : 1
    scale = scale > 1000000 ? 2^40 : scale > 1 ? 1024 : 1
    wanted = expected(float64(x)/scale)
    y = sort(x)
    print all(float64(y)/scale == reshape(wanted, [1,n])), all(float64(sort(x, "descend"))/scale == reshape(fliplr(wanted), [1,n])),
        type(y), numel(unique(x))
end
x = copy(small)
x[[5,70000,1000000]] = nan
x[9] = -inf
y = sort(x)
print sum(isnan(y[n-3..n-1])), y[0], all(diff(y[0..n-4]) >= 0)
zero = where(rand(n) < 0.5, -0.0, 0.0)
both = horzcat(zero, small)
y = sort(both)
print all(1/y[y == 0] == 1/both[both == 0])
[y, order] = sort(small)
print all(small[order] == y), all(diff(order)[diff(y) == 0] > 0)
