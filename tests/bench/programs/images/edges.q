% Edges: the gradient of Sobel, and where it is nearly largest along its direction
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function y = edges(x)
    n = size(x, 0)
    gx = zeros(n, n)
    gy = zeros(n, n)
    m = zeros(n, n)
    y = zeros(n, n)
    for i = 1..n-2
        for j = 1..n-2
            gx[i,j] = x[i-1,j+1] + 2*x[i,j+1] + x[i+1,j+1] - x[i-1,j-1] - 2*x[i,j-1] - x[i+1,j-1]
            gy[i,j] = x[i+1,j-1] + 2*x[i+1,j] + x[i+1,j+1] - x[i-1,j-1] - 2*x[i-1,j] - x[i-1,j+1]
            m[i,j] = sqrt(gx[i,j]^2 + gy[i,j]^2)
        end
    end
    for i = 1..n-2
        for j = 1..n-2
            a = abs(gx[i,j])
            b = abs(gy[i,j])
            if a > 2.5*b
                p = m[i,j-1]
                q = m[i,j+1]
            elseif b > 2.5*a
                p = m[i-1,j]
                q = m[i+1,j]
            elseif gx[i,j]*gy[i,j] > 0
                p = m[i-1,j-1]
                q = m[i+1,j+1]
            else
                p = m[i-1,j+1]
                q = m[i+1,j-1]
            end
            if m[i,j] >= 0.99*p && m[i,j] >= 0.99*q
                y[i,j] = m[i,j]
            end
        end
    end
end
