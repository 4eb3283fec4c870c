% options: --loops always
% Variables that each iteration of a `for` changes by an integer do not keep it from vectors and parallel iterations.
function [y, k] = copies(x, k)
    y = zeros(1, 3*numel(x) + 8)
    for v = x
        y[k] = 2*v + 1
        k += 1
    end
end
function [y, k, n] = backward(x, k)
    y = zeros(1, 2*numel(x) + 2)
    n = 0
    for i = numel(x)-1..-1..0
        k = k - 2
        n = 3 + n
        y[k] = x[i] + n
    end
end
function [m, at, i] = largest(x, i)
    m = -inf
    at = -1
    for v = x
        if v > m
            m = v
            at = i
        end
        i += 1
    end
end
function [y, k] = flat(X, k)
    [m, n] = size(X, 0..1)
    y = zeros(1, m*n + 9)
    for i = 0..m-1
        for j = 1..n-1
            y[k] = X[i,j]*2
            k += 1
        end
    end
end
function [y, k] = cube(n, p)
    y = zeros(1, 64)
    k = 0
    for a = 0..n-1
        for b = 0..p
            for c = 1..2
                y[k] = 100*a + 10*b + c
                k += 1
            end
        end
    end
end
function [y, k] = with_rows(X)
    [m, n] = size(X, 0..1)
    y = zeros(1, m*n)
    for i = 0..m-1
        k = -i*0
        y[i] = 1/k
        for j = 0..n-1
            y[i*n+j] += 1/k
            k += 1
        end
    end
end
% These depend on values, or change by other numbers.
function [y, k] = some(x, limit)
    y = zeros(1, numel(x))
    k = 0
    for v = x
        if v > limit
            y[k] = v
            k += 1
        end
    end
end
function [y, k] = first_of(x, limit)
    y = zeros(1, numel(x))
    k = 0
    for v = x
        if v > limit
            break
        end
        y[k] = v
        k += 1
    end
end
function [y, k] = skipping(x, limit)
    y = zeros(1, numel(x))
    k = 0
    for v = x
        if v > limit
            continue
        end
        y[k] = v
        k += 1
    end
end
function [y, k] = triangle(n)
    y = zeros(1, n*n)
    k = 0
    for i = 0..n-1
        for j = 0..i
            y[k] = i - j
            k += 1
        end
    end
end
function [y, t] = fractions(x, t)
    y = zeros(1, numel(x))
    i = 0
    for v = x
        y[i] = v*t
        t += 0.1
        i += 1
    end
end
function [y, k] = of_ints(x, k : int)
    y = zeros(1, 2*numel(x))
    for v = x
        y[k] = v
        k += 1
    end
end
x = mod((0..39)*37, 41)/4
for k = {0, 3, -0.0}
    [y, n] = copies(x, k)
    print y, n
end
print 1/copies(x[0..-1], -0.0)[0], copies([], 5)[0]
[y, k, n] = backward(x, 80)
print y, k, n
[m, at, i] = largest(x, 1)
print m, " ", at, " ", i
[m, at, i] = largest(int(4*x), 0.5)
print m, " ", at, " ", i
X = reshape(x, [5,8])
[y, k] = flat(X, 4)
print y, k
[y, k] = flat(zeros(3,1), 4)
print y, k
[y, k] = flat(zeros(3,0), 4)
print y, k
[y, k] = cube(3, 2)
print y, k
[y, k] = cube(3, -2)
print y, k
[y, k] = with_rows(X)
print y, k
[y, k] = some(x, 5)
print y, k
[y, k] = first_of(x, 9.5)
print y, k
[y, k] = skipping(x, 7)
print y, k
[y, k] = triangle(5)
print y, k
[y, t] = fractions(x, 1)
print y, t
[y, k] = of_ints(x, 7)
print y, k
for start = {-1, 0.5, nan, 130}
    try
        y = copies(x, start)
        print y
    catch e
        print e
    end
end
