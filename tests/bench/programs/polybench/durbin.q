% Solves a Toeplitz system by the recursion of Levinson and Durbin
import "../inputs.q"
function r = inputs(n)
    r = 0.1*pattern(n, 37, 1021)/n
end
function y = durbin(r)
    n = numel(r)
    y = zeros(n)
    z = zeros(n)
    y[0] = -r[0]
    beta = 1
    alpha = -r[0]
    for k = 1..n-1
        beta = (1 - alpha^2)*beta
        s = 0
        for i = 0..k-1
            s += r[k-i-1]*y[i]
        end
        alpha = -(r[k] + s)/beta
        for i = 0..k-1
            z[i] = y[i] + alpha*y[k-i-1]
        end
        for i = 0..k-1
            y[i] = z[i]
        end
        y[k] = alpha
    end
end
