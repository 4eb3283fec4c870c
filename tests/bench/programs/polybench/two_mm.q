% D = 1.5*A*B*C + 1.2*D
import "../inputs.q"
function [A, B, C, D] = inputs(n)
    A = field(n, n)
    B = field(n, n, 53)
    C = field(n, n, 71)
    D = field(n, n, 91)
end
function D = two_mm(A, B, C, D)
    n = size(A, 0)
    D = copy(D)
    T = zeros(n, n)
    for i = 0..n-1
        for j = 0..n-1
            for k = 0..n-1
                T[i,j] += 1.5*A[i,k]*B[k,j]
            end
        end
    end
    for i = 0..n-1
        for j = 0..n-1
            D[i,j] *= 1.2
            for k = 0..n-1
                D[i,j] += T[i,k]*C[k,j]
            end
        end
    end
end
