% Bilateral filter, 7x7: weights fall with distance and with difference of values.
import "measure.q"

function [] = __kernel__ bilateral(x : mat'clamped, y : mat, pos : ivec2)
    centre = x[pos]
    total = 0.0
    weights = 0.0
    for m = -3..3
        for n = -3..3
            v = x[pos[0]+m, pos[1]+n]
            d = v - centre
            w = exp(-(m*m + n*n)/8 - 12.5*d*d)
            total += w*v
            weights += w
        end
    end
    y[pos] = total/weights
end

function y = bilateral_filter(x, y)
    parallel_do(size(y), x, y, bilateral)
end

function [] = main()
    n = 512
    x = reshape(pattern(n*n, 37, 1021), [n,n])
    y = zeros(n,n)
    measure(() -> bilateral_filter(x, y))
end
