% Distances on a grid with walls, by breadth-first search.
function [grid] = inputs()
    i = 0..39999
    grid = reshape(mod(i*0.7548776 + floor(i/200)*0.5698403, 1) > 0.3 ? 1 : 0, [200,200])
    grid[0,0] = 1
end
function d = with_list(grid)
    [h, w] = size(grid)
    d = -ones(h, w)
    d[0,0] = 0
    queue = {0}
    while numel(queue) > 0
        p = queue.pop(0)
        y = floor(p/w)
        x = mod(p, w)
        for k = 0..3
            ny = y + (k == 0) - (k == 1)
            nx = x + (k == 2) - (k == 3)
            if ny >= 0 && ny < h && nx >= 0 && nx < w && grid[ny,nx] > 0 && d[ny,nx] < 0
                d[ny,nx] = d[y,x] + 1
                queue.append(ny*w + nx)
            end
        end
    end
end
function d = with_pairs(grid)
    [h, w] = size(grid)
    d = -ones(h, w)
    d[0,0] = 0
    queue = {[0,0]}
    moves = [[1,0],[-1,0],[0,1],[0,-1]]
    while numel(queue) > 0
        p = queue.pop(0)
        for k = 0..3
            q = p + moves[k,:]
            if q[0] >= 0 && q[0] < h && q[1] >= 0 && q[1] < w && grid[q[0],q[1]] > 0 && d[q[0],q[1]] < 0
                d[q[0],q[1]] = d[p[0],p[1]] + 1
                queue.append(q)
            end
        end
    end
end
function d = with_array(grid)
    [h, w] = size(grid)
    d = -ones(h, w)
    d[0,0] = 0
    queue = zeros(h*w)
    first = 0
    n = 1
    while first < n
        p = queue[first]
        first += 1
        y = floor(p/w)
        x = mod(p, w)
        for k = 0..3
            ny = y + (k == 0) - (k == 1)
            nx = x + (k == 2) - (k == 3)
            if ny >= 0 && ny < h && nx >= 0 && nx < w && grid[ny,nx] > 0 && d[ny,nx] < 0
                d[ny,nx] = d[y,x] + 1
                queue[n] = ny*w + nx
                n += 1
            end
        end
    end
end
function d = with_fronts(grid)
    [h, w] = size(grid)
    d = -ones(h, w)
    d[0,0] = 0
    front = {0}
    step = 0
    while numel(front) > 0
        step += 1
        next = {}
        for p in front
            y = floor(p/w)
            x = mod(p, w)
            for k = 0..3
                ny = y + (k == 0) - (k == 1)
                nx = x + (k == 2) - (k == 3)
                if ny >= 0 && ny < h && nx >= 0 && nx < w && grid[ny,nx] > 0 && d[ny,nx] < 0
                    d[ny,nx] = step
                    next.append(ny*w + nx)
                end
            end
        end
        front = next
    end
end
