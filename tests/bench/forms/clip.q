% Elements limited to an interval.
function x = inputs()
    x = mod((0..999999)*7919, 1009)/500 - 1
end
function y = with_extremes(x)
    y = min(max(x, -0.5), 0.5)
end
function y = with_clamp(x)
    y = clamp(x, -0.5, 0.5)
end
function y = with_choice(x)
    y = x < -0.5 ? -0.5 : x > 0.5 ? 0.5 : x
end
function y = with_mask(x)
    y = copy(x)
    y[y > 0.5] = 0.5
    y[y < -0.5] = -0.5
end
