% options: --loops always
% An index that wraps around by a condition is inside the array on both sides of it; the loop is parallel.
function y = by_statements(x)
    n = numel(x)
    y = zeros(1, n)
    for i = 0..n-1
        next = i + 1
        if next == n
            next = 0
        end
        before = i - 1
        if before < 0
            before = n - 1
        end
        y[i] = x[next] - 2*x[i] + x[before]
    end
end
function y = by_choices(x)
    n = numel(x)
    y = zeros(1, n)
    for i = 0..n-1
        next = i == n-1 ? 0 : i + 1
        before = i != 0 ? i - 1 : n - 1
        y[i] = x[next] - 2*x[i] + x[before]
    end
end
function y = of_images(X)
    [m, n] = size(X, 0..1)
    y = zeros(m, n)
    for i = 0..m-1
        for j = 0..n-1
            below = i + 1
            right = j + 1
            if below >= m
                below -= m
            end
            if right == n
                right = 0
            end
            y[i,j] = X[i,j] + 10*X[below,j] + 100*X[i,right] + 1000*X[i == 0 ? m-1 : i-1, j == 0 ? n-1 : j-1]
        end
    end
end
function y = too_far(x, n)
    y = zeros(1, n)
    for i = 0..n-1
        next = i + 2
        if next == n
            next = 0
        end
        y[i] = x[next]
    end
end
% These are no selections of numbers.
function [v, z, s, k] = others(n)
    v = [1, 5]
    z = complex(0, 0)
    s = "a"
    k = int(0)
    for i = 0..n-1
        w = [3, 4 + i]
        if v < w
            v = w
        end
        if z == i
            z = 1i
        end
        if k == 2
            k = 0.5
        end
        k += 1
    end
    for i = 0..n-1
        if s == "a"
            s = "b"
        end
    end
end
function x = of_unset(n)
    x = 0
    for i = 0..n-1
        if x == 5
            x = later
        end
        x += 1
        later = i
    end
end
function x = of_nan(x)
    for i = 0..9
        if x != x
            x = i
        end
    end
end
function [] = __kernel__ vectors(x : mat, y : mat, pos : int)
    v = [1, 5]
    w = [x[pos,0], x[pos,1]]
    if v < w
        v = w
    end
    y[pos,0] = v[0]
    y[pos,1] = v[1]
end
for n = {0, 1, 2, 7}
    x = mod(37*(0..n-1), 11)
    print by_statements(x), " ", by_choices(x)
end
print of_images(reshape(0..11, [3,4]))
print too_far(0..7, 6)
for n = {8, 1}
    try
        print too_far(0..7, n)
    catch e
        print e
    end
end
for n = {1, 2, 3, 5}
    [v, z, s, k] = others(n)
    print v, " ", z, " ", s, " ", k
end
print of_unset(9), of_nan(nan), of_nan(2)
y = zeros(2, 2)
parallel_do(2, [[3,4],[3,6]], y, vectors)
print y
