% options: --precision 64
% tolerance: 1e-5
% Gradients at windows that reach beyond the ends of rows: the CPU computes these positions as vectors, which
% accumulate in a copy of their surroundings.  Tests every access mode, and images smaller than the window.
import "check.q"

function [] = __kernel__ mirror_ends(x : mat'mirror, y : mat, pos : ivec2)
    s = 0.0
    for m = -2..3
        for n = -4..3
            d = 0.0
            for k = 0..1
                e = x[pos[0]+k, pos[1]] - x[pos[0]+m+k, pos[1]+n]
                d += e*e
            end
            s += x[pos[0]+m, pos[1]+n]*exp(-d)
        end
    end
    y[pos] = s
end

function [] = __kernel__ circular_ends(x : mat'circular, y : mat, pos : ivec2)
    s = 0.0
    for m = -2..3
        for n = -4..3
            d = 0.0
            for k = 0..1
                e = x[pos[0]+k, pos[1]] - x[pos[0]+m+k, pos[1]+n]
                d += e*e
            end
            s += x[pos[0]+m, pos[1]+n]*exp(-d)
        end
    end
    y[pos] = s
end

function [] = __kernel__ clamped_ends(x : mat'clamped, y : mat, pos : ivec2)
    s = 0.0
    for m = -2..3
        for n = -4..3
            d = 0.0
            for k = 0..1
                e = x[pos[0]+k, pos[1]] - x[pos[0]+m+k, pos[1]+n]
                d += e*e
            end
            s += x[pos[0]+m, pos[1]+n]*exp(-d)
        end
    end
    y[pos] = s
end

function [] = __kernel__ safe_ends(x : mat'safe, y : mat, pos : ivec2)
    s = 0.0
    for m = -2..3
        for n = -4..3
            d = 0.0
            for k = 0..1
                e = x[pos[0]+k, pos[1]] - x[pos[0]+m+k, pos[1]+n]
                d += e*e
            end
            s += x[pos[0]+m, pos[1]+n]*exp(-d)
        end
    end
    y[pos] = s
end

function s = by(kernel, x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, kernel)
    s = sum(y.*weights(size(y)))
end
check("mirror 11x39", x -> by(mirror_ends, x), image(11,39))
check("mirror 2x33", x -> by(mirror_ends, x), image(2,33))
check("circular 11x39", x -> by(circular_ends, x), image(11,39))
check("circular 2x33", x -> by(circular_ends, x), image(2,33))
check("clamped 11x39", x -> by(clamped_ends, x), image(11,39))
check("clamped 2x33", x -> by(clamped_ends, x), image(2,33))
check("safe 11x39", x -> by(safe_ends, x), image(11,39))
check("safe 2x33", x -> by(safe_ends, x), image(2,33))
