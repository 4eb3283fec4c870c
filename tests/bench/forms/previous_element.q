% Differences to the element before, 0 before the first.
function x = inputs()
    x = int(mod((0..499999)*7919, 1003))
end
function y = with_choice(x)
    y = int(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        v = i > 0 ? x[i-1] : 0
        y[i] = x[i] - v
    end
end
function y = with_if(x)
    y = int(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        if i == 0
            v = 0
        else
            v = x[i-1]
        end
        y[i] = x[i] - v
    end
end
function y = with_variable(x)
    y = int(zeros(1, numel(x)))
    v = 0
    for i = 0..numel(x)-1
        y[i] = x[i] - v
        v = x[i]
    end
end
function y = with_slices(x)
    y = copy(x)
    n = numel(x)
    y[1..n-1] = x[1..n-1] - x[0..n-2]
end
