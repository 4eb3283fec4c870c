% A signal filtered by 32 coefficients
import "../inputs.q"
function [x, c] = inputs(n)
    x = pattern(n, 37, 1021)
    c = pattern(32, 53, 1021)
end
function y = fir_filter(x, c)
    n = numel(x)
    y = zeros(n)
    for i = 31..n-1
        s = 0
        for k = 0..31
            s += c[k]*x[i-k]
        end
        y[i] = s
    end
end
