% The distance along a ray to the nearest of two spheres and a floor, found in steps.
function n = inputs()
    n = 160
end
function d = __device__ distance(x, y, z)
    d = min(sqrt((x-0.5)^2 + (y-0.6)^2 + (z-0.2)^2) - 0.5, y + 1)
    d = min(d, sqrt((x+0.5)^2 + (y-0.1)^2 + (z-0.5)^2) - 0.7)
end
function [dx, dy, dz] = __device__ direction(pos, n)
    u = (2*pos[1]-n)/n
    v = (n-2*pos[0])/n
    s = sqrt(u*u + v*v + 2.25)
    dx = u/s
    dy = v/s
    dz = 1.5/s
end
function [] = __kernel__ march_while(img : mat, n : int, pos : ivec2)
    [dx, dy, dz] = direction(pos, n)
    t = 0.0
    d = 1.0
    k = 0
    while k < 100 && d >= 0.001 && t <= 20
        d = distance(t*dx, 0.5+t*dy, t*dz-3)
        if d >= 0.001
            t += d
        end
        k += 1
    end
    img[pos] = t
end
function [] = __kernel__ march_break(img : mat, n : int, pos : ivec2)
    [dx, dy, dz] = direction(pos, n)
    t = 0.0
    for k = 0..99
        d = distance(t*dx, 0.5+t*dy, t*dz-3)
        if d < 0.001; break; end
        t += d
        if t > 20; break; end
    end
    img[pos] = t
end
function [] = __kernel__ march_return(img : mat, n : int, pos : ivec2)
    [dx, dy, dz] = direction(pos, n)
    t = 0.0
    for k = 0..99
        d = distance(t*dx, 0.5+t*dy, t*dz-3)
        if d < 0.001
            img[pos] = t
            return
        end
        t += d
        if t > 20
            img[pos] = t
            return
        end
    end
    img[pos] = t
end
function t = __device__ march(dx, dy, dz)
    t = 0.0
    for k = 0..99
        d = distance(t*dx, 0.5+t*dy, t*dz-3)
        if d < 0.001; return; end
        t += d
        if t > 20; return; end
    end
end
function [] = __kernel__ march_function(img : mat, n : int, pos : ivec2)
    [dx, dy, dz] = direction(pos, n)
    img[pos] = march(dx, dy, dz)
end
function [] = __kernel__ march_vectors(img : mat, n : int, pos : ivec2)
    ray = [(2*pos[1]-n)/n, (n-2*pos[0])/n, 1.5]
    ray = ray/norm(ray)
    t = 0.0
    hit = false
    k = 0
    while !hit && k < 100
        p = [0,0.5,-3] + t*ray
        d = distance(p[0], p[1], p[2])
        if d < 0.001
            hit = true
        else
            t += d
            hit = t > 20
        end
        k += 1
    end
    img[pos] = t
end
function [] = __kernel__ march_table(img : mat, n : int, balls : mat, pos : ivec2)
    [dx, dy, dz] = direction(pos, n)
    t = 0.0
    for k = 0..99
        d = 0.5 + t*dy + 1
        for i = 0..size(balls,0)-1
            d = min(d, sqrt((t*dx-balls[i,0])^2 + (0.5+t*dy-balls[i,1])^2 + (t*dz-3-balls[i,2])^2) - balls[i,3])
        end
        if d < 0.001; break; end
        t += d
        if t > 20; break; end
    end
    img[pos] = t
end
function img = with_while(n)
    img = zeros(n, n)
    parallel_do(size(img), img, n, march_while)
end
function img = with_break(n)
    img = zeros(n, n)
    parallel_do(size(img), img, n, march_break)
end
function img = with_return(n)
    img = zeros(n, n)
    parallel_do(size(img), img, n, march_return)
end
function img = with_function(n)
    img = zeros(n, n)
    parallel_do(size(img), img, n, march_function)
end
function img = with_vectors(n)
    img = zeros(n, n)
    parallel_do(size(img), img, n, march_vectors)
end
function img = with_table(n)
    img = zeros(n, n)
    parallel_do(size(img), img, n, [[0.5,0.6,0.2,0.5],[-0.5,0.1,0.5,0.7]], march_table)
end
function img = with_loops(n)
    img = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            u = (2*j-n)/n
            v = (n-2*i)/n
            s = sqrt(u*u + v*v + 2.25)
            img[i,j] = march(u/s, v/s, 1.5/s)
        end
    end
end
