% The distances of points from a center.
function [x, y] = inputs()
    x = mod((0..999999)*7919, 1009)/500
    y = mod((0..999999)*7907, 1013)/500
end
function d = with_powers(x, y)
    d = sqrt((x - 1).^2 + (y - 1).^2)
end
function d = with_variables(x, y)
    a = x - 1
    b = y - 1
    d = sqrt(a.*a + b.*b)
end
function d = length(a, b)
    d = sqrt(a^2 + b^2)
end
function d = with_function(x, y)
    d = zeros(size(x))
    for i = 0..numel(x)-1
        d[i] = length(x[i] - 1, y[i] - 1)
    end
end
function d = with_lambda(x, y)
    f = (a, b) -> sqrt(a.*a + b.*b)
    d = f(x - 1, y - 1)
end
