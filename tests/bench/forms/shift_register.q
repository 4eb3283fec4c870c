% A filter with a line of past values, which moves by one at every step.
function [x, h] = inputs()
    x = mod((0..19999)*7919, 101)/101
    h = (1..40)/40
end
function y = with_slices(x, h)
    n = numel(h)
    line = zeros(n)
    y = zeros(numel(x))
    for k = 0..numel(x)-1
        line[1..n-1] = line[0..n-2]
        line[0] = x[k]
        y[k] = sum(line.*h)
    end
end
function y = with_elements(x, h)
    n = numel(h)
    line = zeros(n)
    y = zeros(numel(x))
    for k = 0..numel(x)-1
        for i = n-1..-1..1
            line[i] = line[i-1]
        end
        line[0] = x[k]
        s = 0
        for i = 0..n-1
            s += line[i]*h[i]
        end
        y[k] = s
    end
end
function y = with_end(x, h)
    n = numel(h)
    line = zeros(n)
    y = zeros(numel(x))
    for k = 0..numel(x)-1
        line[0..n-2] = line[1..n-1]
        line[n-1] = x[k]
        s = 0
        for i = 0..n-1
            s += line[n-1-i]*h[i]
        end
        y[k] = s
    end
end
function y = with_list(x, h)
    n = numel(h)
    line = zeros(n)
    y = zeros(numel(x))
    for k = 0..numel(x)-1
        line = horzcat([x[k]], line[0..n-2])
        y[k] = sum(line.*h)
    end
end
