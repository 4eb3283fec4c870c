% Non-local means: 11x11 candidates, patches of 3x3.
import "race.q"

function [] = __kernel__ nlmeans(x : mat'mirror, y : mat, pos : ivec2)
    total = 0.0
    weights = 0.0
    for dm = -5..5
        for dn = -5..5
            d = 0.0
            for pm = -1..1
                for pn = -1..1
                    e = x[pos[0]+pm, pos[1]+pn] - x[pos[0]+dm+pm, pos[1]+dn+pn]
                    d += e*e
                end
            end
            w = exp(-8*d)
            total += w*x[pos[0]+dm, pos[1]+dn]
            weights += w
        end
    end
    y[pos] = total/weights
end

function s = value(x)
    y = uninit(size(x))
    parallel_do(size(y), x, y, nlmeans)
    s = sum(y.*y)
end

function [] = main()
    n = 128
    x = reshape(pattern(n*n, 37, 1021), [n,n])
    race(() -> value(x), () -> grad(value, x))
end
