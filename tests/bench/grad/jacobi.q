% Ten sweeps of Jacobi's method for the Poisson equation; outside is 0.
import "race.q"

function [] = __kernel__ sweep(u : mat'safe, f : mat, v : mat, pos : ivec2)
    m = pos[0]
    n = pos[1]
    v[m,n] = 0.25*(u[m-1,n] + u[m+1,n] + u[m,n-1] + u[m,n+1] + f[m,n])
end

function s = value(f)
    u = zeros(size(f))
    for k = 1..10
        v = uninit(size(f))
        parallel_do(size(f), u, f, v, sweep)
        u = v
    end
    s = sum(u.*u)
end

function [] = main()
    n = 512
    f = reshape(pattern(n*n, 37, 1021), [n,n])
    race(() -> value(f), () -> grad(value, f))
end
