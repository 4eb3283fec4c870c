% A += u1*v1 + u2*v2 of columns and rows; x = 1.2*transpose(A)*y + z; w = 1.5*A*x
import "../inputs.q"
function [A, u1, v1, u2, v2, y, z] = inputs(n)
    A = field(n, n)
    u1 = pattern(n, 53, 1021)
    v1 = pattern(n, 71, 1021)
    u2 = pattern(n, 91, 1021)
    v2 = pattern(n, 31, 1021)
    y = pattern(n, 11, 1021)
    z = pattern(n, 13, 1021)
end
function [A, x, w] = gemver(A, u1, v1, u2, v2, y, z)
    n = size(A, 0)
    A = copy(A)
    x = zeros(n)
    w = zeros(n)
    for i = 0..n-1
        for j = 0..n-1
            A[i,j] += u1[i]*v1[j] + u2[i]*v2[j]
        end
    end
    for i = 0..n-1
        for j = 0..n-1
            x[i] += 1.2*A[j,i]*y[j]
        end
    end
    for i = 0..n-1
        x[i] += z[i]
    end
    for i = 0..n-1
        for j = 0..n-1
            w[i] += 1.5*A[i,j]*x[j]
        end
    end
end
