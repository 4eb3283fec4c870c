% Rows that depend on elements to the left and above run together, with the same bits as one after the other.
% options: --loops always --no-warnings
function A = means(A, m, n)
    A = copy(A)
    for t = 1..3
        for i = 1..m-2
            for j = 1..n-2
                A[i,j] = (A[i-1,j-1] + A[i-1,j] + A[i-1,j+1] + A[i,j-1] + A[i,j] + A[i,j+1] + A[i+1,j-1] + A[i+1,j] + A[i+1,j+1])/9
            end
        end
    end
end
function A = means_one_by_one(A, m, n)
    A = copy(A)
    for t = 1..3
        for i = 1..m-2
            for j = 1..n-2
                if j > n
                    break
                end
                A[i,j] = (A[i-1,j-1] + A[i-1,j] + A[i-1,j+1] + A[i,j-1] + A[i,j] + A[i,j+1] + A[i+1,j-1] + A[i+1,j] + A[i+1,j+1])/9
            end
        end
    end
end
% far elements of both rows, branches, and variables of rows and elements, which are read afterwards
function [A, s, t, u, i, j] = mixed(A, m, n)
    A = copy(A)
    s = 0
    t = 0
    u = 0
    i = -1
    j = -1
    for i = 2..m-2
        s = 0.5*i
        for j = 3..n-4
            u = A[i-2,j+3] - A[i+1,j-3] + s
            if u > A[i,j-1]
                A[i,j] = 0.5*A[i,j-1] + 0.25*u
            else
                A[i,j] = A[i,j-1] - A[i-1,j+1]
            end
            s = 0.5*s + u
        end
        t = s + i
    end
end
function [A, s, t, u, i, j] = mixed_one_by_one(A, m, n)
    A = copy(A)
    s = 0
    t = 0
    u = 0
    i = -1
    j = -1
    for i = 2..m-2
        s = 0.5*i
        for j = 3..n-4
            if j > n
                break
            end
            u = A[i-2,j+3] - A[i+1,j-3] + s
            if u > A[i,j-1]
                A[i,j] = 0.5*A[i,j-1] + 0.25*u
            else
                A[i,j] = A[i,j-1] - A[i-1,j+1]
            end
            s = 0.5*s + u
        end
        t = s + i
    end
end
% the value of a variable goes from row to row, and a row is read that a later one writes
function [A, s] = carried(A, m, n)
    A = copy(A)
    s = 0
    for i = 1..m-2
        for j = 1..n-1
            A[i,j] = 0.5*A[i,j-1] + A[i+1,j] + s
            s = 0.25*A[i,j]
        end
    end
end
function [A, s] = carried_one_by_one(A, m, n)
    A = copy(A)
    s = 0
    for i = 1..m-2
        for j = 1..n-1
            if j > n
                break
            end
            A[i,j] = 0.5*A[i,j-1] + A[i+1,j] + s
            s = 0.25*A[i,j]
        end
    end
end
% short loops around the elements, whose variable starts anew
function A = sums(A, m, n)
    A = copy(A)
    for i = 1..m-3
        for j = 2..n-2
            s = 0.0
            for k = -1..2
                for l = -2..1
                    s += A[i+k,j+l]
                end
            end
            A[i,j] = s/17
        end
    end
end
function A = sums_one_by_one(A, m, n)
    A = copy(A)
    for i = 1..m-3
        for j = 2..n-2
            if j > n
                break
            end
            s = 0.0
            for k = -1..2
                for l = -2..1
                    s += A[i+k,j+l]
                end
            end
            A[i,j] = s/17
        end
    end
end
% indices that are linear: columns go beyond the rows
function x = linear(x, m, n, w)
    x = copy(x)
    for i = 1..m-1
        for j = 1..n-1
            x[i*w+j] = 0.5*x[i*w+j-1] + x[(i-1)*w+j+1]
        end
    end
end
function x = linear_one_by_one(x, m, n, w)
    x = copy(x)
    for i = 1..m-1
        for j = 1..n-1
            if j > n
                break
            end
            x[i*w+j] = 0.5*x[i*w+j-1] + x[(i-1)*w+j+1]
        end
    end
end
good = 0
tried = 0
for m = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20]
    for n = [1, 2, 3, 5, 8, 11, 12, 13, 16, 17, 18, 19, 20, 21, 22, 40]
        A = rand(m, n)
        good += all(means(A, m, n) == means_one_by_one(A, m, n))
        [B, s, t, u, i, j] = mixed(A, m, n)
        [C, s1, t1, u1, i1, j1] = mixed_one_by_one(A, m, n)
        good += all(B == C) && s == s1 && t == t1 && u == u1 && i == i1 && j == j1
        [B, s] = carried(A, m, n)
        [C, s1] = carried_one_by_one(A, m, n)
        good += all(B == C) && s == s1
        good += all(sums(A, m, n) == sums_one_by_one(A, m, n))
        x = rand(50*50)
        good += all(linear(x, m, n, 9) == linear_one_by_one(x, m, n, 9))
        tried += 5
    end
end
print good, " of ", tried
