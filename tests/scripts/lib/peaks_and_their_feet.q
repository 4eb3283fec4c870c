% findpeaks finds the feet of peaks by passing lower peaks at once. A walk to a higher sample gives the same results, also
% for equal peaks, flat tops, nan and inf.
import "signal.q"
function [low, at] = walk(x, p, way)
    low = x[p]
    at = p
    i = p
    while i >= 0 && i < numel(x) && x[i] <= x[p]
        if x[i] < low
            low = x[i]
            at = i
        endif
        i += way
    end
end
function [] = compare(x, what, ...more)
    [pks, locs, w, p] = findpeaks(x, ...more)
    for k = 0..numel(locs)-1
        at = locs[k]
        [a, left] = walk(x, at, -1)
        [b, right] = walk(x, at, 1)
        h = x[at] - 0.5*(x[at] - max(a, b))
        from = at
        while from > left && h < x[from]
            from -= 1
        end
        from = x[from] < h ? from + (h - x[from])/(x[from+1] - x[from]) : from
        to = at
        while to < right && h < x[to]
            to += 1
        end
        to = x[to] < h ? to - (h - x[to])/(x[to-1] - x[to]) : to
        if p[k] != x[at] - max(a, b) || abs(w[k] - (to - from)) > 1e-5 || pks[k] != x[at]
            print what, ": peak ", at, " has prominence ", p[k], ", width ", w[k]
        endif
    end
    print what, ": ", numel(locs)
end
rng(3)
x = rand(600)
compare(x, "noise")
compare(x, "high", 0.7)
compare(x, "apart", null, null, 5)
compare(floor(4*x), "flat tops")
compare(float64(floor(3*x)), "equal peaks", 1)
compare(cumsum(x - 0.5), "a walk", null, null, 3)
x[[50,51,200]] = nan
x[300] = -inf
x[400] = inf
compare(x, "nan and inf")
for tops = {[0,1,1,0], [0,1,1], [1,1,0], [0,2,2,3,0], [0,3,2,2,0], [0,1,1,1,1,0,1,0], [1], zeros(0), [0,1], [nan,1,0], [0,1,nan]}
    [pks, locs, w, p] = findpeaks(tops)
    print locs, p
end
