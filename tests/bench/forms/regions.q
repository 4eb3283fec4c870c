% Number of regions of a grid, by depth-first search.
function [grid] = inputs()
    i = 0..39999
    grid = reshape(mod(i*0.7548776 + floor(i/200)*0.5698403, 1) > 0.45 ? 1 : 0, [200,200])
end
function n = with_list(grid)
    [h, w] = size(grid)
    seen = zeros(h, w)
    n = 0
    for y0 = 0..h-1
        for x0 = 0..w-1
            if grid[y0,x0] > 0 && seen[y0,x0] == 0
                n += 1
                seen[y0,x0] = 1
                stack = {y0*w + x0}
                while numel(stack) > 0
                    p = stack.pop()
                    y = floor(p/w)
                    x = mod(p, w)
                    for k = 0..3
                        ny = y + (k == 0) - (k == 1)
                        nx = x + (k == 2) - (k == 3)
                        if ny >= 0 && ny < h && nx >= 0 && nx < w && grid[ny,nx] > 0 && seen[ny,nx] == 0
                            seen[ny,nx] = 1
                            stack.append(ny*w + nx)
                        end
                    end
                end
            end
        end
    end
end
function n = with_array(grid)
    [h, w] = size(grid)
    seen = zeros(h, w)
    stack = zeros(h*w)
    n = 0
    for y0 = 0..h-1
        for x0 = 0..w-1
            if grid[y0,x0] > 0 && seen[y0,x0] == 0
                n += 1
                seen[y0,x0] = 1
                stack[0] = y0*w + x0
                top = 1
                while top > 0
                    top -= 1
                    p = stack[top]
                    y = floor(p/w)
                    x = mod(p, w)
                    for k = 0..3
                        ny = y + (k == 0) - (k == 1)
                        nx = x + (k == 2) - (k == 3)
                        if ny >= 0 && ny < h && nx >= 0 && nx < w && grid[ny,nx] > 0 && seen[ny,nx] == 0
                            seen[ny,nx] = 1
                            stack[top] = ny*w + nx
                            top += 1
                        end
                    end
                end
            end
        end
    end
end
function n = with_pairs(grid)
    [h, w] = size(grid)
    seen = zeros(h, w)
    n = 0
    for y0 = 0..h-1
        for x0 = 0..w-1
            if grid[y0,x0] > 0 && seen[y0,x0] == 0
                n += 1
                seen[y0,x0] = 1
                stack = {[y0,x0]}
                while numel(stack) > 0
                    p = stack.pop()
                    for k = 0..3
                        ny = p[0] + (k == 0) - (k == 1)
                        nx = p[1] + (k == 2) - (k == 3)
                        if ny >= 0 && ny < h && nx >= 0 && nx < w && grid[ny,nx] > 0 && seen[ny,nx] == 0
                            seen[ny,nx] = 1
                            stack.append([ny,nx])
                        end
                    end
                end
            end
        end
    end
end
