% C = 1.2*C + 1.5*A*B, where only the lower triangle of the symmetric A is read
import "../inputs.q"
function [A, B, C] = inputs(n)
    A = field(n, n)
    B = field(n, n, 53)
    C = field(n, n, 71)
end
function C = symm(A, B, C)
    n = size(A, 0)
    C = copy(C)
    for i = 0..n-1
        for j = 0..n-1
            t = 0.0
            for k = 0..i-1
                C[k,j] += 1.5*B[i,j]*A[i,k]
                t += B[k,j]*A[i,k]
            end
            C[i,j] = 1.2*C[i,j] + 1.5*B[i,j]*A[i,i] + 1.5*t
        end
    end
end
