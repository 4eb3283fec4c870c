% Squared distances between all pairs of points, with 16 coordinates
import "../inputs.q"
function x = inputs(n)
    x = field(n, 16)
end
function d = distance_matrix(x)
    s = sum(x.^2, 1)
    d = max(s + transpose(s) - 2*(x*transpose(x)), 0)
end
