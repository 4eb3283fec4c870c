% vec[vec3], vec[mat], mat[vec3]: the dimensions of the entries come last, and writes are copied back to them.
function [] = show(f)
    try
        f()
    catch e
        print e
    end
end
function [] = __kernel__ weigh(x : vec[vec3], y : vec, pos : int)
    p = x[pos]
    y[pos] = p[0] + 10*p[1] + 100*x[pos][2] + 1000*numel(x)
end
function [] = __kernel__ write(x : vec[vec3], pos : int)
    x[pos] = x[pos]*2 + [1,0,0]
    x[pos][1] += pos
    x[pos][2] = size(x,1)
end
function [] = __kernel__ untyped(x, y, pos : int)
    y[pos] = x[pos][1]
end
function [] = __kernel__ product(m : vec[mat2x2], v : vec[vec2], y : vec[vec2], pos : int)
    y[pos] = v[pos]*m[pos]
end
function [] = __kernel__ pixel(m : vec[mat], y : cube, pos : ivec3)
    y[pos] = m[pos[2]][pos[0],pos[1]]
end
function [] = __kernel__ patch(m : vec[mat], y : vec, k : int, pos : int)
    y[pos] = m[pos][1..2,k][1] + m[0][k,1]
end
function [] = __kernel__ colors(img : mat[vec3], y : mat, pos : ivec2)
    y[pos] = sum(img[pos]) + img[pos[0],pos[1]][0]*100 + size(img,1)*10000
end
function [] = __kernel__ counts(h : vec[vec3], at : ivec, pos : int)
    h[at[pos]][1] += 1
end
function y = __device__ first(x : vec[vec3], i)
    y = x[i][0]
end
function [] = __kernel__ handed_on(x : vec[vec3], y : vec, pos : int)
    y[pos] = first(x, pos)
end
function [] = __kernel__ clamped(x : vec'clamped[vec3], y : vec, pos : int)
    y[pos] = x[pos-1][0] + x[pos+5][1]
end
x = vec[vec3](4)
x[0] = [1,2,3]
x[2] = [4,5,6]
y = zeros(4)
parallel_do(4, x, y, weigh)
print y
parallel_do(4, [[1,2,3],[0,0,0],[4,5,6],[7,8,9]], y, weigh)
print y
kept = x[2]
parallel_do(size(x), x, write)
print x, " ", kept
parallel_do(4, x, y, untyped)
print y
grid = [[1,2,3],[4,5,6]]
parallel_do(2, grid, write)
print grid
m = vec[mat](3)
v = vec[vec2](3)
for i = 0..2
    m[i] = [[1,i],[0,2]]
    v[i] = [i,1]
end
r = vec[vec2](3)
parallel_do(3, m, v, r, product)
print r
big = vec[mat](2)
big[0] = reshape(0..5999, [60,100])
big[1] = -big[0]
c = zeros(60,100,2)
parallel_do(size(c), big, c, pixel)
print all(c[:,:,0] == big[0]), all(c[:,:,1] == big[1])
y = zeros(2)
parallel_do(2, big, y, 1, patch)
print y
img = reshape(1.0..12, [2,2,3])
y = zeros(2,2)
parallel_do([2,2], img, y, colors)
print y
h = vec[vec3](3)
parallel_do(9, h, int([0,1,1,2,2,2,2,0,1]), counts)
print h
y = zeros(4)
parallel_do(4, x, y, handed_on)
print y
parallel_do(4, x, y, clamped)
print y
% the same cell twice is one array
function [] = __kernel__ both(a : vec[vec3], b : vec[vec3], y : vec, pos : int)
    a[pos][0] = 7
    y[pos] = b[pos][0]
end
serial_do(4, x, x, y, both)
print y, x[3]
% cells that do not fit
odd = vec[vec](2)
odd[0] = [1,2]
odd[1] = [1,2,3]
show(() -> parallel_do(2, odd, y, weigh))
odd[1] = [3,4]
show(() -> parallel_do(2, odd, y, weigh))
show(() -> parallel_do(2, ones(4,2), y, weigh))
show(() -> parallel_do(2, ones(4), y, weigh))
show(() -> parallel_do(2, img, y, weigh))
show(() -> parallel_do(2, {1,2}, y, weigh))
