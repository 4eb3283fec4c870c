% Separable Gaussian, 13 taps: rows, then columns; the image continues mirrored.
import "race.q"

function [] = __kernel__ rows(x : mat'mirror, y : mat, w : vec'unchecked, pos : ivec2)
    s = 0.0
    for k = -6..6
        s += w[k+6]*x[pos[0], pos[1]+k]
    end
    y[pos] = s
end

function [] = __kernel__ columns(x : mat'mirror, y : mat, w : vec'unchecked, pos : ivec2)
    s = 0.0
    for k = -6..6
        s += w[k+6]*x[pos[0]+k, pos[1]]
    end
    y[pos] = s
end

function s = value(x, w)
    t = uninit(size(x))
    y = uninit(size(x))
    parallel_do(size(x), x, t, w, rows)
    parallel_do(size(x), t, y, w, columns)
    s = sum(y.*y)
end

function [] = main()
    n = 1024
    x = reshape(pattern(n*n, 37, 1021), [n,n])
    w = exp(-((-6..6)/2).^2/2)
    w = w/sum(w)
    race(() -> value(x, w), () -> grad(x -> value(x, w), x))
end
