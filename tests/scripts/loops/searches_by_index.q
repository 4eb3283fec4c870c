% options: --loops always
% Loops that search for an index k and compare with x[k] become vectors, and keep their errors.
function k = largest(x, k)
    for i = 0..numel(x)-1
        if x[i] > x[k]
            k = i
        end
    end
end
function [k, n] = last_smallest(x, k)
    n = 0
    for i = 1..numel(x)-1
        if x[i] <= x[k]
            k = i
            n += 1
        end
    end
end
function k = next_largest(x, k)
    for i = 0..numel(x)-2
        if x[k] < x[i+1]
            k = i + 1
        end
    end
end
function p = pivot(A, k, p)
    for i = k..size(A, 0)-1
        if abs(A[i,k]) > abs(A[p,k])
            p = i
        end
    end
end
function q = pivot_of_row(A, k, q)
    for j = 0..size(A, 1)-1
        if abs(A[k,j]) > abs(A[k,q])
            q = j
        end
    end
end
function x = sorted(x)
    n = numel(x)
    for i = 0..n-2
        k = i
        for j = i+1..n-1
            if x[j] < x[k]
                k = j
            end
        end
        [x[i], x[k]] = [x[k], x[i]]
    end
end
% x[k] is inside, and z[k] perhaps not
function [k, s] = of_two(x, z, k)
    s = 0
    for i = 0..numel(x)-1
        s += z[k]
        if x[i] > x[k]
            k = i
        end
    end
end
function [k, s] = of_square(A, k)
    s = 0
    for i = 0..size(A, 0)-1
        s += A[1,k]
        if A[i,0] > A[k,0]
            k = i
        end
    end
end
function x = swapped(x, k)
    for i = 0..numel(x)-1
        if x[i] > x[k]
            x[k] = x[i]
            k = i
        end
    end
end
function [] = show(x)
    for k = {0, 7, -1, 5000, 0.5, nan}
        try
            [l, n] = last_smallest(x, k)
            print largest(x, k), " ", l, " ", n, " ", next_largest(x, k)
        catch e
            print e
        end
    end
end
for n = {8, 60}
    x = mod(37*(0..n-1), 101)/2
    show(x)
    show(int(x))
    x[3..9..n-1] = nan
    show(x)
    x[7] = nan
    show(x)
    z = 0*x
    z[2] = -0.0
    show(z)
end
show([])
print sorted(mod(37*(0..49), 101))
A = reshape(mod(29*(0..5199), 5209), [130,40]) - 2500
for k = {0, 3, 39}
    print pivot(A, k, k), " ", pivot(transpose(A)[:,0..29], mod(k, 30), 39), " ", pivot_of_row(A, k, 1)
end
for k = {0, 130, -1}
    try
        print pivot(A, 0, k), " ", pivot_of_row(A, 2, k)
    catch e
        print e
    end
    try
        [l, s] = of_square(A, k)
        print l, " ", s
    catch e
        print e
    end
end
x = mod(37*(0..99), 101)
for n = {100, 5}
    try
        [k, s] = of_two(x, x[0..n-1], 0)
        print k, " ", s
    catch e
        print e
    end
end
print swapped(x, 4)
