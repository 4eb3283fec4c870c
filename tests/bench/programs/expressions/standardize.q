% Columns of mean 0 and deviation 1
import "../inputs.q"
function x = inputs(n)
    x = field(n, n)
end
function y = standardize(x)
    n = size(x, 0)
    d = x - mean(x, 0)
    y = d./sqrt(sum(d.^2, 0)/n)
end
