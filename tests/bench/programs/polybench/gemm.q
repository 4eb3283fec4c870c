% C = 1.2*C + 1.5*A*B
import "../inputs.q"
function [A, B, C] = inputs(n)
    A = field(n, n)
    B = field(n, n, 53)
    C = field(n, n, 71)
end
function C = gemm(A, B, C)
    C = copy(C)
    n = size(C, 0)
    for i = 0..n-1
        for j = 0..n-1
            C[i,j] *= 1.2
        end
        for k = 0..n-1
            for j = 0..n-1
                C[i,j] += 1.5*A[i,k]*B[k,j]
            end
        end
    end
end
