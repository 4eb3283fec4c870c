% tolerance: 1e-9
% Each position must use the right element of its array.
function [] = __kernel__ turned(x : mat, y : mat, pos : ivec2)
    y[pos] = 3*x[pos[1],pos[0]]
end
function [] = __kernel__ turned_safe(x : mat'safe, y : mat, pos : ivec2)
    y[pos] = 3*x[pos[1],pos[0]]
end
function [] = __kernel__ crossed(x : mat, y : vec, pos : int)
    y[pos] = x[0,pos] * x[pos,2]
end
function s = of(x, k, dims)
    y = zeros_like(x, dims)
    parallel_do(dims, x, y, k)
    s = sum(y)
end
x = float64(reshape(1..15, [3,5]))
noise = 77*ones_like(x)     % what is let go is taken again
noise = 0
print grad(x -> of(x, turned, [3,5]), x)
noise = 77*ones_like(x)
noise = 0
print grad(x -> of(x, turned_safe, [3,5]), x)
print grad(x -> of(x, turned, [5,3]), x)
print grad(x -> of(x, crossed, 3), x)
