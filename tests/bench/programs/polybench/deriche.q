% A recursive edge filter, forward and backward along rows, then along columns
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function y = deriche(x)
    [h, w] = size(x)
    a = 0.25
    k = (1 - exp(-a))^2/(1 + 2*a*exp(-a) - exp(2*a))
    a2 = k*exp(-a)*(a - 1)
    a3 = k*exp(-a)*(a + 1)
    a4 = -k*exp(-2*a)
    b1 = 2^(-a)
    b2 = -exp(-2*a)
    t = zeros(h, w)
    u = zeros(h, w)
    y = zeros(h, w)
    for i = 0..h-1
        y1 = 0.0
        y2 = 0.0
        x1 = 0.0
        for j = 0..w-1
            t[i,j] = k*x[i,j] + a2*x1 + b1*y1 + b2*y2
            x1 = x[i,j]
            y2 = y1
            y1 = t[i,j]
        end
        y1 = 0.0
        y2 = 0.0
        x1 = 0.0
        x2 = 0.0
        for j = w-1..-1..0
            u[i,j] = a3*x1 + a4*x2 + b1*y1 + b2*y2
            x2 = x1
            x1 = x[i,j]
            y2 = y1
            y1 = u[i,j]
        end
        for j = 0..w-1
            y[i,j] = t[i,j] + u[i,j]
        end
    end
    for j = 0..w-1
        y1 = 0.0
        y2 = 0.0
        x1 = 0.0
        for i = 0..h-1
            t[i,j] = k*y[i,j] + a2*x1 + b1*y1 + b2*y2
            x1 = y[i,j]
            y2 = y1
            y1 = t[i,j]
        end
        y1 = 0.0
        y2 = 0.0
        x1 = 0.0
        x2 = 0.0
        for i = h-1..-1..0
            u[i,j] = a3*x1 + a4*x2 + b1*y1 + b2*y2
            x2 = x1
            x1 = y[i,j]
            y2 = y1
            y1 = u[i,j]
        end
    end
    for i = 0..h-1
        for j = 0..w-1
            y[i,j] = t[i,j] + u[i,j]
        end
    end
end
