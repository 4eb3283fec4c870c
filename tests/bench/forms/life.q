% One hundred steps of the game of life.
function x = inputs()
    x = mod((reshape(0..16383, [128,128])*7919), 3) == 0
end
function x = with_for(x)
    x = int(x)
    [m, n] = size(x)
    for step = 1..20
        y = int(zeros(m, n))
        for i = 1..m-2
            for j = 1..n-2
                k = 0
                for a = -1..1
                    for b = -1..1
                        k += x[i+a,j+b]
                    end
                end
                k -= x[i,j]
                y[i,j] = k == 3 || (k == 2 && x[i,j] == 1) ? 1 : 0
            end
        end
        x = y
    end
end
function x = with_slices(x)
    x = int(x)
    [m, n] = size(x)
    for step = 1..20
        k = x[0..m-3,0..n-3] + x[0..m-3,1..n-2] + x[0..m-3,2..n-1] + x[1..m-2,0..n-3] + x[1..m-2,2..n-1] + x[2..m-1,0..n-3] + x[2..m-1,1..n-2] + x[2..m-1,2..n-1]
        y = int(zeros(m, n))
        y[1..m-2,1..n-2] = k == 3 || (k == 2 && x[1..m-2,1..n-2] == 1)
        x = y
    end
end
function k = neighbours(x, i, j)
    k = x[i-1,j-1] + x[i-1,j] + x[i-1,j+1] + x[i,j-1] + x[i,j+1] + x[i+1,j-1] + x[i+1,j] + x[i+1,j+1]
end
function x = with_function(x)
    x = int(x)
    [m, n] = size(x)
    for step = 1..20
        y = int(zeros(m, n))
        for i = 1..m-2
            for j = 1..n-2
                k = neighbours(x, i, j)
                if k == 3
                    y[i,j] = 1
                elseif k == 2
                    y[i,j] = x[i,j]
                end
            end
        end
        x = y
    end
end
function [] = __kernel__ lives(x : mat[int], y : mat[int], pos : ivec2)
    [i, j] = pos
    if i > 0 && j > 0 && i < size(x,0)-1 && j < size(x,1)-1
        k = x[i-1,j-1] + x[i-1,j] + x[i-1,j+1] + x[i,j-1] + x[i,j+1] + x[i+1,j-1] + x[i+1,j] + x[i+1,j+1]
        y[pos] = k == 3 || (k == 2 && x[pos] == 1) ? 1 : 0
    end
end
function x = with_kernel(x)
    x = int(x)
    for step = 1..20
        y = int(zeros(size(x)))
        parallel_do(size(x), x, y, lives)
        x = y
    end
end
