% The lower triangle of C = 1.2*C + 1.5*(A*transpose(B) + B*transpose(A))
import "../inputs.q"
function [A, B, C] = inputs(n)
    A = field(n, n)
    B = field(n, n, 53)
    C = field(n, n, 71)
end
function C = syr2k(A, B, C)
    n = size(A, 0)
    C = copy(C)
    for i = 0..n-1
        for j = 0..i
            C[i,j] *= 1.2
        end
        for k = 0..n-1
            for j = 0..i
                C[i,j] += 1.5*(A[j,k]*B[i,k] + B[j,k]*A[i,k])
            end
        end
    end
end
