% Gravity of all on all.
import "race.q"

function [] = __kernel__ forces(p : mat'unchecked, f : mat'unchecked, n : int, pos : int)
    {!kernel fast_math=true}
    fx = 0.0
    fy = 0.0
    fz = 0.0
    for j = 0..n-1
        dx = p[0,j] - p[0,pos]
        dy = p[1,j] - p[1,pos]
        dz = p[2,j] - p[2,pos]
        d = dx*dx + dy*dy + dz*dz + 0.01
        r = 1/(d*sqrt(d))
        fx += dx*r
        fy += dy*r
        fz += dz*r
    end
    f[0,pos] = fx
    f[1,pos] = fy
    f[2,pos] = fz
end

function s = value(p)
    f = uninit(size(p))
    parallel_do(size(p,1), p, f, size(p,1), forces)
    s = mean(f.*f)
end

function [] = main()
    n = 1024
    p = zeros(3,n)
    p[0,:] = pattern(n, 37, 1021)
    p[1,:] = pattern(n, 53, 1019)
    p[2,:] = pattern(n, 71, 1013)
    race(() -> value(p), () -> grad(value, p))
end
