% Ten generations of the game of life on a torus.
import "measure.q"

function [] = __kernel__ step(now : mat[bool]'circular, next : mat[bool], pos : ivec2)
    n = 0
    for dm = -1..1
        for dn = -1..1
            n += now[pos + [dm,dn]]
        end
    end
    next[pos] = n == 3 || (n == 4 && now[pos])
end

function now = generations(world)
    now = copy(world)
    next = mat[bool](size(world,0), size(world,1))
    for g = 1..10
        parallel_do(size(world), now, next, step)
        [now, next] = {next, now}
    end
end

function [] = main()
    n = 1024
    world = mat[bool](n,n)
    world[:,:] = reshape(pattern(n*n, 37, 1021), [n,n]) < 0.3
    measure(() -> generations(world))
end
