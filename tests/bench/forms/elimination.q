% Solves A*x = b by elimination with pivoting.
function [M, b] = inputs()
    n = 60
    M = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            M[i,j] = mod(i*37 + j*101 + i*j*13, 97)/97
        end
    end
    b = mod((0..n-1)*7, 13)/13 + 1
end
function x = with_elements(M, b)
    A = copy(M)
    x = copy(b)
    n = numel(b)
    for k = 0..n-1
        p = k
        for i = k+1..n-1
            if abs(A[i,k]) > abs(A[p,k])
                p = i
            end
        end
        for j = 0..n-1
            t = A[k,j]
            A[k,j] = A[p,j]
            A[p,j] = t
        end
        t = x[k]
        x[k] = x[p]
        x[p] = t
        for i = k+1..n-1
            f = A[i,k]/A[k,k]
            for j = k..n-1
                A[i,j] -= f*A[k,j]
            end
            x[i] -= f*x[k]
        end
    end
    for i = n-1..-1..0
        s = x[i]
        for j = i+1..n-1
            s -= A[i,j]*x[j]
        end
        x[i] = s/A[i,i]
    end
end
function x = with_slices(M, b)
    A = copy(M)
    x = copy(b)
    n = numel(b)
    for k = 0..n-1
        p = k
        for i = k+1..n-1
            if abs(A[i,k]) > abs(A[p,k])
                p = i
            end
        end
        t = A[k,:]
        A[k,:] = A[p,:]
        A[p,:] = t
        s = x[k]
        x[k] = x[p]
        x[p] = s
        for i = k+1..n-1
            f = A[i,k]/A[k,k]
            A[i,:] = A[i,:] - f*A[k,:]
            x[i] -= f*x[k]
        end
    end
    for i = n-1..-1..0
        s = x[i]
        for j = i+1..n-1
            s -= A[i,j]*x[j]
        end
        x[i] = s/A[i,i]
    end
end
function x = with_slice_pivot(M, b)
    A = copy(M)
    x = copy(b)
    n = numel(b)
    for k = 0..n-1
        p = k
        for i = k+1..n-1
            if abs(A[i,k]) > abs(A[p,k])
                p = i
            end
        end
        if p != k
            row = A[k,:]
            A[k,:] = A[p,:]
            A[p,:] = row
            s = x[k]
            x[k] = x[p]
            x[p] = s
        end
        for i = k+1..n-1
            f = A[i,k]/A[k,k]
            A[i,k..n-1] -= f*A[k,k..n-1]
            x[i] -= f*x[k]
        end
    end
    for i = n-1..-1..0
        s = x[i]
        for j = i+1..n-1
            s -= A[i,j]*x[j]
        end
        x[i] = s/A[i,i]
    end
end
function [] = swap_rows(A, i, j)
    t = A[i,:]
    A[i,:] = A[j,:]
    A[j,:] = t
end
function x = with_function(M, b)
    A = copy(M)
    x = copy(b)
    n = numel(b)
    for k = 0..n-1
        p = k
        for i = k+1..n-1
            if abs(A[i,k]) > abs(A[p,k])
                p = i
            end
        end
        swap_rows(A, k, p)
        t = x[k]
        x[k] = x[p]
        x[p] = t
        for i = k+1..n-1
            f = A[i,k]/A[k,k]
            for j = k..n-1
                A[i,j] -= f*A[k,j]
            end
            x[i] -= f*x[k]
        end
    end
    for i = n-1..-1..0
        s = x[i]
        for j = i+1..n-1
            s -= A[i,j]*x[j]
        end
        x[i] = s/A[i,i]
    end
end
