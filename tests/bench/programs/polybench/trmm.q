% B = 1.5*transpose(A)*B with a lower triangular A of unit diagonal
import "../inputs.q"
function [A, B] = inputs(n)
    A = field(n, n)
    B = field(n, n, 53)
end
function B = trmm(A, B)
    n = size(A, 0)
    B = copy(B)
    for i = 0..n-1
        for j = 0..n-1
            for k = i+1..n-1
                B[i,j] += A[k,i]*B[k,j]
            end
            B[i,j] *= 1.5
        end
    end
end
