% options: --dump kir
% devices: ref
% An accumulator that begins as an int literal becomes a scalar; the radius is an int when it counts and indexes.
function [] = __kernel__ box(x : cube'clamped, y : cube'unchecked, r, pos : ivec3)
    s = 0
    for m=-r..r
        s += x[pos + [0,m,0]]
    end
    y[pos] = s/(2*r+1)
end
x = ones(2,4,3)
y = zeros(2,4,3)
parallel_do(size(y), x, y, 2, box)
