% The neighbours that hash_grid finds, in the plane and in space, against all pairs; and its errors.
import "hashgrid.q"

function [] = __kernel__ near(points, g : point_grid, radius : scalar, found : vec[int], pos : int)
    p = [points[pos,0], points[pos,1], points[pos,size(points,1)-1]]
    n = 0
    for c = 0..grid_cells(g)-1
        [first, last] = grid_range(g, p, c)
        for k = first..last
            d = 0.0
            for a = 0..size(points,1)-1
                d += (points[g.order[k],a] - points[pos,a])^2
            end
            n += d < radius^2 ? 1 : 0
        end
    end
    found[pos] = n
end
function [] = __kernel__ all_pairs(points, radius : scalar, found : vec[int], pos : int)
    n = 0
    for j = 0..size(points,0)-1
        d = 0.0
        for a = 0..size(points,1)-1
            d += (points[j,a] - points[pos,a])^2
        end
        n += d < radius^2 ? 1 : 0
    end
    found[pos] = n
end
function [] = compare(points, radius)
    n = size(points,0)
    found = vec[int](n)
    expected = vec[int](n)
    parallel_do(n, points, hash_grid(points, radius), radius, found, near)
    parallel_do(n, points, radius, expected, all_pairs)
    assert(all(found == expected), "radius ", radius)
    print sum(found) >= n
end
randseed(3)
for dims = 2..3
    compare(20*rand(1000,dims) - 7, 1.3)
    compare(rand(300,dims), 5)
    compare(100*rand(300,dims), 0.01)
    compare(1000*floor(3*rand(200,dims)), 1)
end
compare([[1,2]], 1)
g = hash_grid([[0.5,0.5],[0.6,0.5],[7,7]], 1)
[first, last] = grid_range(g, [0.1,0.1], 4)
print g.order[first..last], " ", grid_cells(g)
function [] = show(f)
    try
        f()
    catch e
        print e
    end
end
show(() -> hash_grid([1,2,3,4], 1))
show(() -> hash_grid([[1,2]], 0))
