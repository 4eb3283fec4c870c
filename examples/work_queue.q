% A queue of work and stream compaction, with atomic_add as the counter of a list: distances in a maze, step by step. The
% positions that a step reaches are the work of the next one; atomic_cas lets one position claim each of them. The distances
% must be those that a search without a queue finds.

function [] = __kernel__ step(walls : mat[int], seen : mat[int], from : vec[int], to : vec[int], count : vec[int], _
                              distance : int, pos : int)
    columns = size(walls, 1)
    i = int(from[pos]/columns)
    j = mod(from[pos], columns)
    for k = 0..3
        y = i + (k == 0 ? -1 : k == 1 ? 1 : 0)
        x = j + (k == 2 ? -1 : k == 3 ? 1 : 0)
        if y >= 0 && y < size(walls, 0) && x >= 0 && x < columns
            if walls[y,x] == 0
                if atomic_cas(seen[y,x], -1, distance) == -1
                    to[atomic_add(count[0], 1)] = y*columns + x
                end
            end
        end
    end
end

% Compaction: the positions whose distance is `wanted`, in a list without gaps.
function [] = __kernel__ compact(seen : mat[int], wanted : int, list : vec[int], count : vec[int], pos : ivec2)
    if seen[pos] == wanted
        list[atomic_add(count[0], 1)] = pos[0]*size(seen, 1) + pos[1]
    end
end

% One sweep of a search without a queue.
function [] = __kernel__ relax(walls : mat[int], old : mat, new : mat, pos : ivec2)
    best = old[pos]
    for k = 0..3
        y = pos[0] + (k == 0 ? -1 : k == 1 ? 1 : 0)
        x = pos[1] + (k == 2 ? -1 : k == 3 ? 1 : 0)
        if y >= 0 && y < size(walls, 0) && x >= 0 && x < size(walls, 1)
            best = min(best, old[y,x] + 1)
        end
    end
    new[pos] = walls[pos] == 0 ? best : old[pos]
end

function [] = main()
    n = 60
    randseed(4)
    walls = int(rand(n,n) < 0.3)
    walls[0,0] = 0
    seen = mat[int](n,n)
    seen[:,:] = -1
    seen[0,0] = 0
    from = vec[int](n*n)
    to = vec[int](n*n)
    queued = 1
    distance = 0
    while queued > 0
        distance += 1
        count = vec[int](1)
        parallel_do(queued, walls, seen, from, to, count, distance, step)
        queued = count[0]
        [from, to] = [to, from]
    end

    far = n*n
    a = zeros(n,n) + far
    a[0,0] = 0
    for sweep = 1..distance+1
        b = uninit(n,n)
        parallel_do([n,n], walls, a, b, relax)
        a = b
    end
    expected = where(a >= far, -1, a)
    assert(all(seen == expected), "the queue finds the shortest ways")
    printf("the farthest position is %d steps away", max(seen))

    list = vec[int](n*n)
    count = vec[int](1)
    parallel_do([n,n], seen, 20, list, count, compact)
    found = list[0..count[0]-1]
    distances = reshape(seen, [1,n*n])
    assert(count[0] == sum(seen == 20) && numel(unique(found)) == count[0], "the list has all positions, without gaps")
    assert(all(distances[found] == 20), "and no others")
    print count[0], " positions are 20 steps away"
end
