% Negative elements are scaled.
function x = inputs()
    x = mod((0..999999)*7919, 1009)/500 - 1
end
function y = with_choice(x)
    y = x > 0 ? x : 0.1*x
end
function y = with_where(x)
    y = where(x > 0, x, 0.1*x)
end
function y = with_extremes(x)
    y = max(x, 0) + 0.1*min(x, 0)
end
function y = with_mask(x)
    y = copy(x)
    y[x < 0] = 0.1*x[x < 0]
end
function y = with_for(x)
    y = zeros(size(x))
    for i = 0..numel(x)-1
        if x[i] > 0
            y[i] = x[i]
        else
            y[i] = 0.1*x[i]
        end
    end
end
