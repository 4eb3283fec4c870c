% Each row A[r,q,:] times the matrix B
import "../inputs.q"
function [A, B] = inputs(n)
    A = reshape(pattern(n*n*n, 37, 1021), [n,n,n])
    B = field(n, n, 53)
end
function A = doitgen(A, B)
    n = size(B, 0)
    A = copy(A)
    s = zeros(n)
    for r = 0..n-1
        for q = 0..n-1
            for p = 0..n-1
                s[p] = 0
                for k = 0..n-1
                    s[p] += A[r,q,k]*B[k,p]
                end
            end
            for p = 0..n-1
                A[r,q,p] = s[p]
            end
        end
    end
end
