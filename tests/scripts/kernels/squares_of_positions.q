% The last two axes become one loop only if memory is traversed with a constant stride.
function [] = __kernel__ gather(x : vec'unchecked, y : cube'unchecked, pos : ivec3)
    y[pos] = x[12*pos[0] + 3*pos[1] + pos[2]*pos[2]]
end

x = 0..99
y = zeros(3, 4, 3)
parallel_do(size(y), x, y, gather)
print(y)
