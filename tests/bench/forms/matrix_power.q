% Powers of a small matrix.
function [A, n] = inputs()
    A = reshape(mod((0..15)*7, 11) + 1, [4,4])
    A = A./sum(A, 1)
    n = 20000
end
function P = with_operator(A, n)
    P = eye(4)
    for k = 1..n
        P = P*A
    end
end
function P = with_temporary(A, n)
    P = copy(A)
    for k = 2..n
        Q = P*A
        P = Q
    end
end
function P = with_loops(A, n)
    m = size(A, 0)
    P = eye(m)
    T = zeros(m, m)
    for k = 1..n
        for i = 0..m-1
            for j = 0..m-1
                s = 0
                for l = 0..m-1
                    s += P[i,l]*A[l,j]
                end
                T[i,j] = s
            end
        end
        for i = 0..m-1
            for j = 0..m-1
                P[i,j] = T[i,j]
            end
        end
    end
end
function P = with_zeros(A, n)
    m = size(A, 0)
    P = eye(m)
    for k = 1..n
        T = zeros(m, m)
        for i = 0..m-1
            for j = 0..m-1
                s = 0
                for l = 0..m-1
                    s += P[i,l]*A[l,j]
                end
                T[i,j] = s
            end
        end
        P = T
    end
end
function C = product(A, B)
    m = size(A, 0)
    C = zeros(m, m)
    for i = 0..m-1
        for j = 0..m-1
            for l = 0..m-1
                C[i,j] += A[i,l]*B[l,j]
            end
        end
    end
end
function P = with_function(A, n)
    P = eye(4)
    for k = 1..n
        P = product(P, A)
    end
end
function P = with_while(A, n)
    P = eye(4)
    k = 0
    while k < n
        P = P*A
        k += 1
    end
end
