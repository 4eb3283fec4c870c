% One round of k-means: 16 centres in the plane.
import "measure.q"

function [] = __kernel__ assign(x : vec, y : vec, c : mat'unchecked, sums : mat, pos : int)
    best = 0
    nearest = 1e30
    for k = 0..15
        dx = x[pos] - c[0,k]
        dy = y[pos] - c[1,k]
        d = dx*dx + dy*dy
        if d < nearest
            nearest = d
            best = k
        endif
    end
    sums[0,best] += x[pos]
    sums[1,best] += y[pos]
    sums[2,best] += 1
end

function next = round(x, y, c)
    sums = zeros(3,16)
    parallel_do(numel(x), x, y, c, sums, assign)
    next = sums[0..1,:]./sums[2,:]
end

function [] = main()
    n = 1048576
    x = pattern(n, 37, 1021)
    y = pattern(n, 53, 1019)
    c = zeros(2,16)
    c[0,:] = pattern(16, 5, 17)
    c[1,:] = pattern(16, 11, 19)
    measure(() -> round(x, y, c))
end
