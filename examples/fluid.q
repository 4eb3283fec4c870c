% args: --quick
% A fluid by the material point method: particles that carry it, and a grid for forces (Taichi's example mpm88).
%
%   qrun examples/fluid.q             writes out/fluid.png

% Weights of the 3 x 3 nodes around x, and where these begin.
function [w, base, fx] = __device__ weights(x : vec2, n)
    base = floor(x*n - 0.5)
    fx = x*n - base
    w = zeros(3,2)
    w[0,:] = 0.5*(1.5 - fx).^2
    w[1,:] = 0.75 - (fx - 1).^2
    w[2,:] = 0.5*(fx - 0.5).^2
end

% Particles give mass and momentum to the grid.
function [] = __kernel__ to_grid(x : mat, v : mat, C : cube, J : vec, grid : cube, dt, n, pos : int)
    volume = (0.5/n)^2
    [w, base, fx] = weights(x[pos,0..1], n)
    stress = -dt*4*400*volume*(J[pos]-1)*n^2
    affine = [[stress,0],[0,stress]] + volume*C[pos,0..1,0..1]
    for i = 0..2
        for j = 0..2
            d = ([i,j] - fx)/n
            k = w[i,0]*w[j,1]
            m = k*(volume*v[pos,0..1] + [affine[0,0]*d[0]+affine[0,1]*d[1], affine[1,0]*d[0]+affine[1,1]*d[1]])
            grid[base[0]+i,base[1]+j,0] += m[0]
            grid[base[0]+i,base[1]+j,1] += m[1]
            grid[base[0]+i,base[1]+j,2] += k*volume
        end
    end
end

% Gravity and walls.
function [] = __kernel__ move(grid : cube, dt, n : int, pos : ivec2)
    if grid[pos[0],pos[1],2] > 0
        v = grid[pos[0],pos[1],0..1]/grid[pos[0],pos[1],2]
        v[1] -= dt*9.8
        if (pos[0] < 3 && v[0] < 0) || (pos[0] > n-3 && v[0] > 0)
            v[0] = 0
        end
        if (pos[1] < 3 && v[1] < 0) || (pos[1] > n-3 && v[1] > 0)
            v[1] = 0
        end
        grid[pos[0],pos[1],0..1] = v
    end
end

% Particles take their velocity, and how it changes around them, from the grid.
function [] = __kernel__ to_particles(x : mat, v : mat, C : cube, J : vec, grid : cube, dt, n, pos : int)
    [w, base, fx] = weights(x[pos,0..1], n)
    new_v = [0,0]
    new_C = zeros(2,2)
    for i = 0..2
        for j = 0..2
            d = ([i,j] - fx)/n
            g = grid[base[0]+i,base[1]+j,0..1]
            k = w[i,0]*w[j,1]
            new_v += k*g
            new_C += 4*k*n^2*(transpose(g)*d)
        end
    end
    v[pos,0..1] = new_v
    x[pos,0..1] += dt*new_v
    J[pos] *= 1 + dt*trace(new_C)
    C[pos,0..1,0..1] = new_C
end

function [] = main()
    quick = numel(args()) > 0
    n = 64                                       % nodes along each axis; the box is 1 x 1
    count = quick ? 1000 : 8000
    randseed(2)
    x = 0.2 + 0.4*rand(count,2)
    v = zeros(count,2)
    C = zeros(count,2,2)
    J = ones(count)
    dt = 2e-4
    steps = quick ? 200 : 2000
    for s = 1..steps
        grid = zeros(n,n,3)
        parallel_do(count, x, v, C, J, grid, dt, n, to_grid)
        parallel_do([n,n], grid, dt, n, move)
        parallel_do(count, x, v, C, J, grid, dt, n, to_particles)
    end
    m = mean(x, 0)
    printf("the middle after %.2f s: %.2f, %.2f", steps*dt, m[0], m[1])
    if quick
        fall = 9.8*(steps*dt)^2/2                % nothing has touched the floor yet
        assert(abs(m[1] - (0.4 - fall)) < 0.01 && abs(m[0] - 0.4) < 0.01, "the fluid falls freely")
    else
        assert(min(x) > 0.02 && max(x) < 0.98 && m[1] < 0.3, "the fluid has fallen")
        picture = ones(240,240,3)*255
        for k = 0..count-1
            picture[239-int(240*x[k,1]), int(240*x[k,0]), 0..2] = [30,90,200]
        end
        makedir("out")
        imwrite("out/fluid.png", picture)
        print "wrote out/fluid.png"
    end
end
