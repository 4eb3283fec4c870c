% Solves A*x = b by ten sweeps
import "../inputs.q"
function [A, b] = inputs(n)
    A = field(n, n)
    for i = 0..n-1
        A[i,i] = n
    end
    b = pattern(n, 53, 1021)
end
function x = gauss_seidel(A, b)
    n = size(A, 0)
    x = zeros(n)
    for t = 1..10
        for i = 0..n-1
            s = b[i]
            for j = 0..n-1
                if j != i
                    s -= A[i,j]*x[j]
                end
            end
            x[i] = s/A[i,i]
        end
    end
end
