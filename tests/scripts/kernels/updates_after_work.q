% tolerance: 1e-5
% Atomic updates after work that is vectorised over several positions; some positions end before the update, some
% update nothing, and values computed before are used after.
function [] = __kernel__ nearest(x : vec, c : vec, sums : vec, counts : vec[int], last : vec, pos : int)
    if x[pos] < 0
        return
    endif
    best = 0
    d = 1e30
    for k = 0..7
        e = abs(x[pos] - c[k])
        if e < d
            d = e
            best = k
        endif
    end
    weight = exp(-d)
    sums[best] += weight*x[pos]
    if d > 0.03
        counts[best] += 1
    endif
    last[pos] = best + weight
end

c = (0..7)/8
for n = [1, 31, 32, 33, 100, 5000]
    x = mod((0..n-1)*37, 101)/90 - 0.05
    sums = zeros(8)
    counts = vec[int](8)
    last = zeros(n)
    parallel_do(n, x, c, sums, counts, last, nearest)
    print n, " ", sums, " ", counts, " ", sum(last)
end
