% devices: ref
function [] = __kernel__ k(y : mat, pos : ivec2)
    y[pos] += 1
end
y = zeros(3,2)
for i = 0..1
    parallel_do(3, y, k)
end
parallel_do(size(y,0..1), y, k)
print y
function [] = __kernel__ channels(y, pos : ivec3)
    y[pos] = 1 + pos[2]
end
parallel_do(size(y), y, channels)
print y
