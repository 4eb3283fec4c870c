% The farthest squared distance of a random walk.
function [n] = inputs()
    n = 200000
end
function v = with_for(n)
    x = 0
    y = 0
    seed = 1
    far = 0
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, 4294967296)
        d = floor(seed/1073741824)
        if d == 0
            x += 1
        elseif d == 1
            x -= 1
        elseif d == 2
            y += 1
        else
            y -= 1
        end
        far = max(far, x*x + y*y)
    end
    v = far
end
function v = with_tables(n)
    dx = [1,-1,0,0]
    dy = [0,0,1,-1]
    x = 0
    y = 0
    seed = 1
    far = 0
    i = 0
    while i < n
        seed = and(1664525*seed + 1013904223, 4294967295)
        d = shr(seed, 30)
        x += dx[d]
        y += dy[d]
        r = x^2 + y^2
        if r > far
            far = r
        end
        i += 1
    end
    v = far
end
function v = with_vector(n)
    pos = [0,0]
    seed = int(1)
    far = 0
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, int(4294967296))
        match shr(seed, 30) with
        | 0 -> pos[0] += 1
        | 1 -> pos[0] -= 1
        | 2 -> pos[1] += 1
        | _ -> pos[1] -= 1
        end
        far = max(far, sum(pos.^2))
    end
    v = far
end
function v = with_positions(n)
    moves = [[1,0],[-1,0],[0,1],[0,-1]]
    p = [0,0]
    seed = 1
    far = 0
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, 4294967296)
        p += moves[floor(seed/1073741824),:]
        far = max([far, dotprod(p, p)])
    end
    v = far
end
