% Particles that walk at random and count their neighbours, with a grid of cells: atomic_add gives each particle its place in
% its cell, rand and randn its steps. The library's hash_grid does so for particles without bounds. The counts must agree with
% a loop over all pairs, and the paths must spread as Brownian motion does.
import "hashgrid.q"

% Each particle makes its own steps of a normal distribution.
function [] = __kernel__ walk(p : mat, steps : int, sigma : scalar, pos : int)
    for k = 1..steps
        p[pos,0..1] = p[pos,0..1] + sigma*randn(2)
    end
end

% The particle's place in its cell is the number of particles that came before.
function [] = __kernel__ sort_into_cells(p : mat, count : mat[int], list : cube[int], pos : int)
    cell = floor(p[pos,0..1])
    k = atomic_add(count[cell], 1)
    if k < size(list, 2)
        list[cell[0],cell[1],k] = pos
    end
end

function [] = __kernel__ neighbours(p : mat, count : mat[int], list : cube[int], found : vec[int], pos : int)
    cell = floor(p[pos,0..1])
    n = 0
    for i = max(cell[0]-1,0)..min(cell[0]+1,size(count,0)-1)
        for j = max(cell[1]-1,0)..min(cell[1]+1,size(count,1)-1)
            for k = 0..count[i,j]-1
                q = list[i,j,k]
                d = p[pos,0..1] - p[q,0..1]
                n += d[0]*d[0] + d[1]*d[1] < 1 && q != pos ? 1 : 0
            end
        end
    end
    found[pos] = n
end

function [] = __kernel__ neighbours_in_grid(p : mat, g : point_grid, found : vec[int], pos : int)
    n = 0
    x = p[pos,0..1]
    for c = 0..grid_cells(g)-1
        [first, last] = grid_range(g, x, c)
        for k = first..last
            q = g.order[k]
            d = x - p[q,0..1]
            n += d[0]*d[0] + d[1]*d[1] < 1 && q != pos ? 1 : 0
        end
    end
    found[pos] = n
end

function [] = __kernel__ all_pairs(p : mat, found : vec[int], pos : int)
    n = 0
    for q = 0..size(p,0)-1
        d = p[pos,0..1] - p[q,0..1]
        n += d[0]*d[0] + d[1]*d[1] < 1 && q != pos ? 1 : 0
    end
    found[pos] = n
end

function [] = main()
    n = 4000
    cells = 40
    randseed(1)
    p = zeros(n, 2) + cells/2
    parallel_do(n, p, 100, 0.4, walk)
    moved = p - cells/2
    variance = sum(sum(moved.*moved))/n
    printf("mean squared distance after 100 steps: %.2f times the expected one", variance/(2*100*0.4^2))
    assert(abs(variance/(2*100*0.4^2) - 1) < 0.06, "Brownian motion spreads in proportion to time")

    p = min(max(p, 0), cells - 0.001)
    count = mat[int](cells, cells)
    list = cube[int](cells, cells, 256)
    parallel_do(n, p, count, list, sort_into_cells)
    assert(sum(sum(count)) == n && max(max(count)) <= 256, "each particle has a place")
    found = vec[int](n)
    parallel_do(n, p, count, list, found, neighbours)
    expected = vec[int](n)
    parallel_do(n, p, expected, all_pairs)
    assert(all(found == expected), "the grid finds the neighbours that all pairs have")
    found[:] = 0
    parallel_do(n, p, hash_grid(p, 1), found, neighbours_in_grid)
    assert(all(found == expected), "hash_grid finds them, too")
    printf("a particle has %.1f neighbours", mean(float(found)))
end
