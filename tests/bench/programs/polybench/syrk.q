% The lower triangle of C = 1.2*C + 1.5*A*transpose(A)
import "../inputs.q"
function [A, C] = inputs(n)
    A = field(n, n)
    C = field(n, n, 53)
end
function C = syrk(A, C)
    n = size(A, 0)
    C = copy(C)
    for i = 0..n-1
        for j = 0..i
            C[i,j] *= 1.2
        end
        for k = 0..n-1
            for j = 0..i
                C[i,j] += 1.5*A[i,k]*A[j,k]
            end
        end
    end
end
