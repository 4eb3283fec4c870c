% The total variation of an image.
function x = inputs()
    x = reshape(mod((0..999999)*7919, 1009)/1009, [1000,1000])
end
function t = with_slices(x)
    [m, n] = size(x)
    a = x[1..m-1,0..n-2] - x[0..m-2,0..n-2]
    b = x[0..m-2,1..n-1] - x[0..m-2,0..n-2]
    t = sum(sqrt(a.*a + b.*b))
end
function t = with_for(x)
    [m, n] = size(x)
    t = 0
    for i = 0..m-2
        for j = 0..n-2
            t += sqrt((x[i+1,j] - x[i,j])^2 + (x[i,j+1] - x[i,j])^2)
        end
    end
end
function t = with_while(x)
    [m, n] = size(x)
    t = 0
    i = 0
    while i < m-1
        j = 0
        while j < n-1
            a = x[i+1,j] - x[i,j]
            b = x[i,j+1] - x[i,j]
            t = t + sqrt(a*a + b*b)
            j += 1
        end
        i += 1
    end
end
function [] = __kernel__ variation(x : mat, y : mat, pos : ivec2)
    a = x[pos + [1,0]] - x[pos]
    b = x[pos + [0,1]] - x[pos]
    y[pos] = sqrt(a*a + b*b)
end
function t = with_kernel(x)
    y = zeros(size(x) - 1)
    parallel_do(size(y), x, y, variation)
    t = sum(y)
end
