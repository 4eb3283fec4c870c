% Three recursive filters of second order, one after the other
import "../inputs.q"
function x = inputs(n)
    x = pattern(n, 37, 1021)
end
function y = biquad(x)
    n = numel(x)
    y = copy(x)
    for t = 1..3
        a = 0.0
        b = 0.0
        for i = 0..n-1
            w = y[i] + 1.2*a - 0.5*b
            y[i] = 0.1*w + 0.2*a + 0.1*b
            b = a
            a = w
        end
    end
end
