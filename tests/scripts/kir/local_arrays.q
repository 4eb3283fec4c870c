% options: --dump kir
% devices: ref
% A small vector is split into components; one with computed indices is in private memory, with a check of each access
% unless its range is known.
function [] = __kernel__ split(x : cube, y : cube, pos : ivec2)
    c = x[pos[0],pos[1],0..2]
    y[pos[0],pos[1],0..2] = c/sum(c)
end
function [] = __kernel__ histogram(x : vec, y : vec, pos : int)
    h = zeros(4)
    for i=0..3
        h[i] = i
    end
    h[x[pos]] += 1
    y[pos] = h[3]
end
x = ones(2,2,3)
y = zeros(2,2,3)
parallel_do([2,2], x, y, split)
parallel_do(3, zeros(3), zeros(3), histogram)
