% Pixels above a threshold become 0.
function x = inputs()
    x = uint8(mod((0..999999)*7919, 256))
end
function y = with_variable(x)
    y = uint8(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        c = x[i]
        if c > 100
            c = 0
        end
        y[i] = c
    end
end
function y = with_choice(x)
    y = uint8(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        y[i] = x[i] > 100 ? 0 : x[i]
    end
end
function y = with_where(x)
    y = where(x > 100, 0, x)
end
function y = with_choice_of_arrays(x)
    y = x > 100 ? 0 : x
end
