% Pixels times a factor.
function x = inputs()
    x = uint8(mod((0..999999)*7919, 256))
end
function y = with_variable(x)
    y = zeros(1, numel(x))
    for i = 0..numel(x)-1
        c = x[i]
        c = c*0.5
        y[i] = c
    end
end
function y = with_element(x)
    y = zeros(1, numel(x))
    for i = 0..numel(x)-1
        y[i] = x[i]*0.5
    end
end
function y = with_expression(x)
    y = x.*0.5
end
function y = with_while(x)
    y = zeros(1, numel(x))
    i = 0
    while i < numel(x)
        y[i] = x[i]*0.5
        i = i + 1
    end
end
