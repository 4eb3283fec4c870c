% options: --dump kir
% devices: ref
% Indices are positions in int64 plus constants, whether written in place or through a local; tests are shared.
function [] = __kernel__ gradient(x : mat, y : mat, pos : ivec2)
    i = pos[0] - 1
    y[pos] = x[pos] - x[i,pos[1]] + x[pos + [0,1]]
end
x = ones(3,3)
y = zeros(3,3)
parallel_do(size(y), x, y, gradient)
