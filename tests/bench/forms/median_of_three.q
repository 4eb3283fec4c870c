% The median of three neighbours.
function x = inputs()
    x = mod((0..299999)*7919, 1009)
end
function y = with_extremes(x)
    n = numel(x)
    a = x[0..n-3]
    b = x[1..n-2]
    c = x[2..n-1]
    y = max(min(a, b), min(max(a, b), c))
end
function y = with_for(x)
    n = numel(x) - 2
    y = zeros(1, n)
    for i = 0..n-1
        y[i] = max(min(x[i], x[i+1]), min(max(x[i], x[i+1]), x[i+2]))
    end
end
function m = middle(a, b, c)
    if a > b
        t = a
        a = b
        b = t
    end
    m = c < a ? a : c > b ? b : c
end
function y = with_function(x)
    n = numel(x) - 2
    y = zeros(1, n)
    for i = 0..n-1
        y[i] = middle(x[i], x[i+1], x[i+2])
    end
end
function y = with_choices(x)
    n = numel(x) - 2
    y = zeros(1, n)
    for i = 0..n-1
        a = x[i]
        b = x[i+1]
        c = x[i+2]
        if (a <= b && b <= c) || (c <= b && b <= a)
            y[i] = b
        elseif (b <= a && a <= c) || (c <= a && a <= b)
            y[i] = a
        else
            y[i] = c
        end
    end
end
