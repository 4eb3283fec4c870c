% y = transpose(A)*(A*x)
import "../inputs.q"
function [A, x] = inputs(n)
    A = field(n, n)
    x = pattern(n, 53, 1021)
end
function y = atax(A, x)
    n = size(A, 0)
    y = zeros(n)
    for i = 0..n-1
        t = 0.0
        for j = 0..n-1
            t += A[i,j]*x[j]
        end
        for j = 0..n-1
            y[j] += A[i,j]*t
        end
    end
end
