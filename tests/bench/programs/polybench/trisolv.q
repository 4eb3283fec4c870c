% Solves L*x = b for a lower triangular L
import "../inputs.q"
function [L, b] = inputs(n)
    L = field(n, n)/n
    for i = 0..n-1
        L[i,i] += 1
    end
    b = pattern(n, 53, 1021)
end
function x = trisolv(L, b)
    n = size(L, 0)
    x = zeros(n)
    for i = 0..n-1
        x[i] = b[i]
        for j = 0..i-1
            x[i] -= L[i,j]*x[j]
        end
        x[i] /= L[i,i]
    end
end
