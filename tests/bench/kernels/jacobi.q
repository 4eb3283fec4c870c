% Ten sweeps of Jacobi's method for the Poisson equation; outside is 0.
import "measure.q"

function [] = __kernel__ sweep(u : mat'safe, f : mat, v : mat, pos : ivec2)
    m = pos[0]
    n = pos[1]
    v[m,n] = 0.25*(u[m-1,n] + u[m+1,n] + u[m,n-1] + u[m,n+1] + f[m,n])
end

function u = solve(f)
    u = zeros(size(f))
    v = uninit(size(f))
    for k = 1..10
        parallel_do(size(f), u, f, v, sweep)
        [u, v] = {v, u}
    end
end

function [] = main()
    n = 1024
    f = reshape(pattern(n*n, 37, 1021), [n,n])
    measure(() -> solve(f))
end
