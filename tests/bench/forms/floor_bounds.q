% Sums of five elements that begin at a computed position.
function [x, at] = inputs()
    x = mod(0..1023, 37)/8
    at = mod((0..99999)*7919, 10180)/10
end
function y = with_floor(x, at)
    y = zeros(1, numel(at))
    for i = 0..numel(at)-1
        a = floor(at[i])
        s = 0
        for k = a..a+4
            s += x[k]
        end
        y[i] = s
    end
end
function y = with_int(x, at)
    y = zeros(1, numel(at))
    for i = 0..numel(at)-1
        a = int(floor(at[i]))
        s = 0
        for k = a..a+4
            s += x[k]
        end
        y[i] = s
    end
end
function y = with_offset(x, at)
    y = zeros(1, numel(at))
    for i = 0..numel(at)-1
        a = floor(at[i])
        s = 0
        for k = 0..4
            s += x[a+k]
        end
        y[i] = s
    end
end
function y = with_while(x, at)
    y = zeros(1, numel(at))
    for i = 0..numel(at)-1
        k = floor(at[i])
        last = k + 4
        s = 0
        while k <= last
            s += x[k]
            k += 1
        end
        y[i] = s
    end
end
