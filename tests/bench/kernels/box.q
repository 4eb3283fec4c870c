% Mean of 5x5 neighbours; the edge repeats.
import "measure.q"

function [] = __kernel__ box(x : mat'clamped, y : mat, pos : ivec2)
    {!kernel fast_math=true}
    s = 0.0
    for m = -2..2
        for n = -2..2
            s += x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s/25
end

function y = box_filter(x, y)
    parallel_do(size(y), x, y, box)
end

function [] = main()
    n = 2048
    x = reshape(pattern(n*n, 37, 1021), [n,n])
    y = zeros(n,n)
    measure(() -> box_filter(x, y))
end
