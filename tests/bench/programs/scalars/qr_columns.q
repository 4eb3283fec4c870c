% QR by the modified Gram-Schmidt process, with columns
import "../inputs.q"
function A = inputs(n)
    A = field(n, n)
    for i = 0..n-1
        A[i,i] += 3
    end
end
function [Q, R] = qr_columns(A)
    n = size(A, 1)
    Q = copy(A)
    R = zeros(n, n)
    for k = 0..n-1
        R[k,k] = sqrt(sum(Q[:,k].^2))
        Q[:,k] /= R[k,k]
        for j = k+1..n-1
            R[k,j] = sum(Q[:,k].*Q[:,j])
            Q[:,j] -= R[k,j]*Q[:,k]
        end
    end
end
