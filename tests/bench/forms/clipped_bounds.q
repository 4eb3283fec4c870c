% Means of at most five neighbours along rows.
function x = inputs()
    x = reshape(mod(0..499999, 251)/8, [500,1000])
end
function y = with_min_max(x)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 0..m-1
        for j = 0..n-1
            s = 0
            for k = max(0,j-2)..min(n-1,j+2)
                s += x[i,k]
            end
            y[i,j] = s
        end
    end
end
function y = with_variables(x)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 0..m-1
        for j = 0..n-1
            first = j - 2
            if first < 0
                first = 0
            end
            last = j + 2
            if last > n-1
                last = n-1
            end
            s = 0
            for k = first..last
                s += x[i,k]
            end
            y[i,j] = s
        end
    end
end
function y = with_test(x)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 0..m-1
        for j = 0..n-1
            s = 0
            for d = -2..2
                if j + d >= 0 && j + d < n
                    s += x[i,j+d]
                end
            end
            y[i,j] = s
        end
    end
end
function [] = __kernel__ sum_of_five(x : mat'safe, y : mat, pos : ivec2)
    s = 0.0
    for d = -2..2
        s += x[pos[0],pos[1]+d]
    end
    y[pos] = s
end
function y = with_kernel(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, sum_of_five)
end
