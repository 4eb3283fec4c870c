% A = Q*R with orthogonal columns of Q
import "../inputs.q"
function A = inputs(n)
    A = 0.5*field(n, n)
    for i = 0..n-1
        A[i,i] += n
    end
end
function [Q, R] = gramschmidt(A)
    n = size(A, 0)
    A = copy(A)
    Q = zeros(n, n)
    R = zeros(n, n)
    for k = 0..n-1
        s = 0.0
        for i = 0..n-1
            s += A[i,k]^2
        end
        R[k,k] = sqrt(s)
        for i = 0..n-1
            Q[i,k] = A[i,k]/R[k,k]
        end
        for j = k+1..n-1
            for i = 0..n-1
                R[k,j] += Q[i,k]*A[i,j]
            end
            for i = 0..n-1
                A[i,j] -= Q[i,k]*R[k,j]
            end
        end
    end
end
