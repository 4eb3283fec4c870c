% Bytes to numbers from 0 to 1 and back.
function x = inputs()
    x = uint8(mod((0..999999)*7919, 256))
end
function y = with_expression(x)
    y = uint8(255*sqrt(x/255))
end
function y = with_conversion(x)
    f = float(x)/255
    y = uint8(255*sqrt(f))
end
function y = with_for(x)
    y = uint8(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        y[i] = 255*sqrt(x[i]/255)
    end
end
function y = with_variable(x)
    y = uint8(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        v = x[i]
        v = v/255
        v = sqrt(v)
        y[i] = 255*v
    end
end
