% Barnes and Hut: kernels walk a quad tree of bodies by a function that calls itself; the forces are nearly the exact ones.
type tree : class
    child : mat[int]
    mass : vec
    centre : mat
    size : vec
    body : vec[int]
end
function a = __device__ pull(t : tree, node : int, p : vec2, theta : scalar)
    a = [0,0]
    if node < 0
        return
    end
    d = t.centre[node,0..1] - p
    r2 = dotprod(d, d) + 1e-4
    if t.body[node] >= 0 || t.size[node]^2 < theta^2*r2
        a = t.mass[node]*d/(r2*sqrt(r2))
    else
        for k = 0..3
            a += pull(t, t.child[node,k], p, theta)
        end
    end
end
function [] = __kernel__ forces(t : tree, p : mat, a : mat, theta : scalar, pos : int)
    a[pos,0..1] = pull(t, 0, p[pos,0..1], theta)
end
function [child, body, size_of, n] = build(p)
    most = 8*size(p,0)
    child = mat[int](most,4)
    child[:,:] = -1
    body = vec[int](most)
    body[:] = -1
    size_of = zeros(most)
    corner = zeros(most,2)
    size_of[0] = 1
    n = 1
    used = vec[int](most)
    for i = 0..size(p,0)-1
        node = 0
        while used[node] != 0
            if body[node] >= 0
                j = body[node]
                body[node] = -1
                h = size_of[node]/2
                q = 2*int(p[j,1] >= corner[node,1]+h) + int(p[j,0] >= corner[node,0]+h)
                child[node,q] = n
                size_of[n] = h
                corner[n,0] = corner[node,0] + h*mod(q,2)
                corner[n,1] = corner[node,1] + h*floor(q/2)
                body[n] = j
                used[n] = 1
                n += 1
            end
            h = size_of[node]/2
            q = 2*int(p[i,1] >= corner[node,1]+h) + int(p[i,0] >= corner[node,0]+h)
            if child[node,q] < 0
                child[node,q] = n
                size_of[n] = h
                corner[n,0] = corner[node,0] + h*mod(q,2)
                corner[n,1] = corner[node,1] + h*floor(q/2)
                n += 1
            end
            node = child[node,q]
        end
        body[node] = i
        used[node] = 1
    end
end
function [mass, x, y] = weigh(child, body, p, node, m, c)
    mass = 0.0
    x = 0.0
    y = 0.0
    if node >= 0
        if body[node] >= 0
            mass = 1.0
            x = p[body[node],0]
            y = p[body[node],1]
        else
            for k = 0..3
                [mk, xk, yk] = weigh(child, body, p, child[node,k], m, c)
                mass += mk
                x += mk*xk
                y += mk*yk
            end
            x /= mass
            y /= mass
        end
        m[node] = mass
        c[node,0] = x
        c[node,1] = y
    end
end
randseed(1)
n = 500
p = rand(n,2)
[child, body, size_of, nodes] = build(p)
m = zeros(numel(body))
c = zeros(numel(body),2)
weigh(child, body, p, 0, m, c)
t = tree(child:=child, mass:=m, centre:=c, size:=size_of, body:=body)
a = zeros(n,2)
parallel_do(n, t, p, a, 0.4, forces)
b = zeros(n,2)
function [] = __kernel__ direct(p : mat, a : mat, pos : int)
    for j = 0..size(p,0)-1
        if j != pos
            d = p[j,0..1] - p[pos,0..1]
            r2 = dotprod(d,d) + 1e-4
            a[pos,0..1] += d/(r2*sqrt(r2))
        end
    end
end
parallel_do(n, p, b, direct)
print sqrt(sum((a-b).^2)/sum(b.^2)) < 0.02
