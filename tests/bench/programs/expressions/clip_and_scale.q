% Clips integers and combines them with others
import "../inputs.q"
function [a, b] = inputs(n)
    a = integers(n, 1000)
    b = integers(n, 1000, 53)
end
function y = clip_and_scale(a, b)
    y = clamp(a, 200, 700).*int([3]) + b.*int([9]) + int([7])
end
