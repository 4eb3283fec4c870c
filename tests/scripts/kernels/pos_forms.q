function [] = __kernel__ k1(y : vec, pos : int)
    y[pos] = pos
end
function [] = __kernel__ k2(y : mat, pos : ivec2)
    y[pos] = 10*pos[0] + pos[1]
end
function [] = __kernel__ k3(y : cube, pos : ivec3)
    y[pos[0],pos[1],pos[2]] = pos[0] + pos[1] + pos[2]
end
function [] = __kernel__ k2f(y : mat, pos : vec2)
    y[pos] = pos[0]/2
end
function [] = __kernel__ k4(y, pos : ivec4)
    y[pos] = pos[3]
end
v = zeros(4)
parallel_do(4, v, k1)
print v
m = zeros(2,3)
parallel_do(size(m), m, k2)
print m
c = zeros(2,2,2)
parallel_do(size(c), c, k3)
print sum(c)
parallel_do(size(m), m, k2f)
print m
h = zeros(2,2,2,3)
parallel_do(size(h), h, k4)
print sum(h)
s = zeros(4)
parallel_do(size(s), s, __kernel__ (y, pos) -> y[0,pos[1]] = pos[1]*2)
