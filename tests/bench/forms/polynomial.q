% A polynomial of degree three.
function x = inputs()
    x = mod((0..999999)*7919, 1009)/500 - 1
end
function y = with_powers(x)
    y = 1 + 2*x + 3*x.^2 + 4*x.^3
end
function y = with_products(x)
    y = 1 + 2*x + 3*x.*x + 4*x.*x.*x
end
function y = with_pow(x)
    y = 1 + 2*x + 3*pow(x, 2) + 4*pow(x, 3)
end
function y = nested(x)
    y = 1 + x.*(2 + x.*(3 + x.*4))
end
function y = with_for(x)
    y = zeros(size(x))
    for i = 0..numel(x)-1
        t = x[i]
        y[i] = 1 + 2*t + 3*t^2 + 4*t^3
    end
end
