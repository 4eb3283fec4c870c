% The correlations of the columns of A
import "../inputs.q"
function A = inputs(n)
    A = field(n, n)
end
function C = correlation(A)
    n = size(A, 0)
    A = copy(A)
    C = zeros(n, n)
    for j = 0..n-1
        m = 0.0
        d = 0.0
        for i = 0..n-1
            m += A[i,j]
        end
        m /= n
        for i = 0..n-1
            d += (A[i,j] - m)^2
        end
        d = sqrt(d)
        if d <= 0.001
            d = 1
        end
        for i = 0..n-1
            A[i,j] = (A[i,j] - m)/d
        end
    end
    for i = 0..n-1
        C[i,i] = 1
        for j = i+1..n-1
            for k = 0..n-1
                C[i,j] += A[k,i]*A[k,j]
            end
            C[j,i] = C[i,j]
        end
    end
end
