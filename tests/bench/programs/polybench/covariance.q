% The covariances of the columns of A
import "../inputs.q"
function A = inputs(n)
    A = field(n, n)
end
function C = covariance(A)
    n = size(A, 0)
    A = copy(A)
    C = zeros(n, n)
    for j = 0..n-1
        m = 0.0
        for i = 0..n-1
            m += A[i,j]
        end
        m /= n
        for i = 0..n-1
            A[i,j] -= m
        end
    end
    for i = 0..n-1
        for j = i..n-1
            s = 0.0
            for k = 0..n-1
                s += A[k,i]*A[k,j]
            end
            C[i,j] = s/(n - 1)
            C[j,i] = C[i,j]
        end
    end
end
