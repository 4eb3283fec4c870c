% Distances on a sphere
import "../inputs.q"
function [a1, b1, a2, b2] = inputs(n)
    a1 = pattern(n, 37, 1021)
    b1 = pattern(n, 53, 1021)
    a2 = pattern(n, 71, 1021)
    b2 = pattern(n, 91, 1021)
end
function d = arc_distance(a1, b1, a2, b2)
    t = sin((a2 - a1)/2).^2 + cos(a1).*cos(a2).*sin((b2 - b1)/2).^2
    d = 2*atan2(sqrt(t), sqrt(1 - t))
end
