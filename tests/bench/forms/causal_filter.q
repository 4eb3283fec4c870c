% The convolution of two sequences, from the first element on.
function [x, h] = inputs()
    x = mod(0..1999, 37)/32
    h = mod(0..1999, 11)/16
end
function y = with_for(x, h)
    n = numel(x)
    y = zeros(1, n)
    for i = 0..n-1
        s = 0
        for j = 0..i
            s += x[i-j]*h[j]
        end
        y[i] = s
    end
end
function y = with_while(x, h)
    n = numel(x)
    y = zeros(1, n)
    for i = 0..n-1
        s = 0
        j = 0
        while j <= i
            s += x[i-j]*h[j]
            j += 1
        end
        y[i] = s
    end
end
function y = with_test(x, h)
    n = numel(x)
    y = zeros(1, n)
    for i = 0..n-1
        s = 0
        for j = 0..n-1
            if j <= i
                s += x[i-j]*h[j]
            end
        end
        y[i] = s
    end
end
function y = with_slices(x, h)
    n = numel(x)
    y = zeros(1, n)
    for i = 0..n-1
        y[i] = sum(x[i..-1..0].*h[0..i])
    end
end
