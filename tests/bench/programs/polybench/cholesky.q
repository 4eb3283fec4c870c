% The lower triangle L with L*transpose(L) = A
import "../inputs.q"
function A = inputs(n)
    A = 0.5*field(n, n)
    for i = 0..n-1
        A[i,i] += n
    end
end
function A = cholesky(A)
    n = size(A, 0)
    A = copy(A)
    for i = 0..n-1
        for j = 0..i-1
            for k = 0..j-1
                A[i,j] -= A[i,k]*A[j,k]
            end
            A[i,j] /= A[j,j]
        end
        for k = 0..i-1
            A[i,i] -= A[i,k]^2
        end
        A[i,i] = sqrt(A[i,i])
    end
end
