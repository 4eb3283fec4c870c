% y = 1.5*A*x + 1.2*B*x
import "../inputs.q"
function [A, B, x] = inputs(n)
    A = field(n, n)
    B = field(n, n, 53)
    x = pattern(n, 71, 1021)
end
function y = gesummv(A, B, x)
    n = size(A, 0)
    y = zeros(n)
    for i = 0..n-1
        s = 0.0
        t = 0.0
        for j = 0..n-1
            s += A[i,j]*x[j]
            t += B[i,j]*x[j]
        end
        y[i] = 1.5*s + 1.2*t
    end
end
