% Cells of objects of one class: kernels read x[i].field; each field becomes an array argument.
type sphere : mutable class
    c : vec3
    r : scalar
    id : int
    name : string
end
type pixel : class
    v : float64
    on : uint8
end
type label : class
    text : string
end
function [] = show(f)
    try
        f()
    catch e
        print e
    end
end
function d = __device__ distance(self : sphere, p : vec3)
    d = sqrt(sum((self.c - p).^2)) - self.r
end
function [] = __kernel__ weigh(x : vec[sphere], y : vec, pos : int)
    y[pos] = x[pos].r*2 + x[pos].c[1] + 100*x[pos].id + 1000*numel(x) + 10000*size(x,1)
end
function [] = __kernel__ nearest(x : vec[sphere], points : vec[vec3], y : vec, which : vec[int], pos : int)
    best = 1e9
    for i = 0..numel(x)-1
        s = x[i]
        d = s.distance(points[pos])
        if d < best
            best = d
            which[pos] = s.id
        endif
    end
    y[pos] = best
end
function [] = __kernel__ untyped(x, y : vec, pos : int)
    y[pos] = x[pos].c[pos]
end
function [] = __kernel__ grid(x : mat[pixel], y : mat[float64], pos : ivec2)
    y[pos] = x[pos].on > 0 ? x[pos[0],pos[1]].v : -1
end
function [] = __kernel__ write_field(x : vec[sphere], pos : int)
    x[pos].r = 1
end
function [] = __kernel__ write_object(x : vec[sphere], pos : int)
    x[pos] = x[0]
end
function [] = __kernel__ whole(x : vec[sphere], y : vec, pos : int)
    y[pos] = x.r
end
function [] = __kernel__ text(x : vec[sphere], y : vec, pos : int)
    y[pos] = x[pos].name
end
function [] = __kernel__ clamped(x : vec'clamped[sphere], y : vec, pos : int)
    y[pos] = x[pos+1].r
end
s = vec[sphere](3)
for i = 0..2
    s[i] = sphere(c:=[i,2,3], r:=i+1, id:=7-i, name:="n")
end
y = zeros(3)
parallel_do(3, s, y, weigh)
print y
s[1].r = 0.5
s[1].c = [9,9,9]
parallel_do(3, s, y, weigh)
print y
points = {[0,2,10],[9,9,8],[2,2,2],[0,0,0]}
which = vec[int](4)
y = zeros(4)
parallel_do(4, s, points, y, which, nearest)
print y, which
y = zeros(3)
parallel_do(3, s, y, untyped)
print y
parallel_do(3, {s[2], s[0], s[1]}, y, untyped)
print y
g = mat[pixel](2,3)
for [m,n] = 0..[1,2]
    g[m,n] = pixel(v:=0.1*m + n, on:=mod(m+n,2))
end
z = mat[float64](2,3)
parallel_do([2,3], g, z, grid)
print z
parallel_do(3, s, y, clamped)
print y
labels = {label(text:="a"), label(text:="b")}
parallel_do(3, s, write_field)
print s[0].r, s[1].r, s[2].r
show(() -> parallel_do(3, s, write_object))
show(() -> parallel_do(3, s, y, whole))
show(() -> parallel_do(3, s, y, text))
show(() -> parallel_do(2, {s[0], g[0,0]}, y, untyped))
show(() -> parallel_do(2, labels, y, untyped))
show(() -> parallel_do(2, {g[0,0], g[0,1]}, y, weigh))
