% Means of 5x5 neighbours, with weights for near and similar ones
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function y = bilateral(x)
    n = size(x, 0)
    y = copy(x)
    for i = 2..n-3
        for j = 2..n-3
            s = 0
            total = 0
            for a = -2..2
                for b = -2..2
                    d = x[i+a,j+b] - x[i,j]
                    w = exp(-(a*a + b*b)/8 - d*d/0.02)
                    s += w*x[i+a,j+b]
                    total += w
                end
            end
            y[i,j] = s/total
        end
    end
end
