% s = transpose(A)*r and q = A*p
import "../inputs.q"
function [A, p, r] = inputs(n)
    A = field(n, n)
    p = pattern(n, 53, 1021)
    r = pattern(n, 71, 1021)
end
function [s, q] = bicg(A, p, r)
    n = size(A, 0)
    s = zeros(n)
    q = zeros(n)
    for i = 0..n-1
        for j = 0..n-1
            s[j] += r[i]*A[i,j]
            q[i] += A[i,j]*p[j]
        end
    end
end
