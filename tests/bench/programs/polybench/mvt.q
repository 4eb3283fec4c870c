% x1 += A*y1 and x2 += transpose(A)*y2
import "../inputs.q"
function [A, x1, x2, y1, y2] = inputs(n)
    A = field(n, n)
    x1 = pattern(n, 53, 1021)
    x2 = pattern(n, 71, 1021)
    y1 = pattern(n, 91, 1021)
    y2 = pattern(n, 31, 1021)
end
function [x1, x2] = mvt(A, x1, x2, y1, y2)
    n = size(A, 0)
    x1 = copy(x1)
    x2 = copy(x2)
    for i = 0..n-1
        for j = 0..n-1
            x1[i] += A[i,j]*y1[j]
        end
    end
    for i = 0..n-1
        for j = 0..n-1
            x2[i] += A[j,i]*y2[j]
        end
    end
end
