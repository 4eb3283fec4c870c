% The means of the values at distances from r to r + 1 of the middle, by masks
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function y = radial_mean(x)
    n = size(x, 0)
    k = (0..n-1) - n/2
    r = sqrt(k.^2 + transpose(k).^2)
    y = zeros(20)
    for m = 0..19
        y[m] = mean(x[r >= m && r < m+1])
    end
end
