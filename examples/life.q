% Conway's game of life on a torus: the 'circular modifier makes the edges meet.

function [] = __kernel__ step(now : mat'circular, next : mat, pos : ivec2)
    n = 0
    for dm = -1..1
        for dn = -1..1
            n += now[pos + [dm, dn]]
        end
    end
    alive = now[pos] > 0
    next[pos] = (n == 3 || (alive && n == 4)) ? 1 : 0
end

function [] = show(world)
    for m = 0..size(world,0)-1
        line = ""
        for n = 0..size(world,1)-1
            line += world[m,n] > 0 ? "#" : "."
        end
        print line
    end
end

function world = run(world : mat, generations)
    next = zeros(size(world))
    for g = 1..generations
        parallel_do(size(world), world, next, step)
        [world, next] = {next, world}
    end
end

function [] = main()
    glider = zeros(8, 8)
    glider[0..2, 0..2] = [[0,1,0],[0,0,1],[1,1,1]]
    show(run(glider, 12))

    % A glider moves one cell down and right in 4 generations; 32 bring it round an 8x8 torus.
    assert(all(run(glider, 32) == glider), "a glider is back after one trip round the torus")

    rand_world = rand(256, 256) < 0.3
    later = run(float(rand_world), 100)
    printf("of %d cells, %s live after 100 generations", numel(later), sum(later) > 500 ? "many" : "few")
end
