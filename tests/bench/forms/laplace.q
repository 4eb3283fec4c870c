% The five-point Laplacian of an image.
function x = inputs()
    x = reshape(mod(0..999999, 251)/8, [1000,1000])
end
function y = with_for(x)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 1..m-2
        for j = 1..n-2
            y[i,j] = x[i-1,j] + x[i+1,j] + x[i,j-1] + x[i,j+1] - 4*x[i,j]
        end
    end
end
function y = with_slices(x)
    [m, n] = size(x)
    y = zeros(m, n)
    y[1..m-2,1..n-2] = x[0..m-3,1..n-2] + x[2..m-1,1..n-2] + x[1..m-2,0..n-3] + x[1..m-2,2..n-1] - 4*x[1..m-2,1..n-2]
end
function [] = __kernel__ five_points(x : mat, y : mat, pos : ivec2)
    [i, j] = pos
    if i > 0 && j > 0 && i < size(x,0)-1 && j < size(x,1)-1
        y[pos] = x[i-1,j] + x[i+1,j] + x[i,j-1] + x[i,j+1] - 4*x[i,j]
    end
end
function y = with_kernel(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, five_points)
end
function v = around(x, i, j)
    v = x[i-1,j] + x[i+1,j] + x[i,j-1] + x[i,j+1]
end
function y = with_function(x)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 1..m-2
        for j = 1..n-2
            y[i,j] = around(x, i, j) - 4*x[i,j]
        end
    end
end
