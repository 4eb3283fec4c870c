% A recursive filter of the first order.
function x = inputs()
    x = mod((0..499999)*7919, 1009)/1009
end
function y = with_for(x)
    y = zeros(1, numel(x))
    s = 0
    for i = 0..numel(x)-1
        s = 0.9*s + 0.1*x[i]
        y[i] = s
    end
end
function y = with_while(x)
    y = zeros(1, numel(x))
    s = 0.0
    i = 0
    while i < numel(x)
        s += 0.1*(x[i] - s)
        y[i] = s
        i += 1
    end
end
function s = updated(s, v)
    s = 0.9*s + 0.1*v
end
function y = with_function(x)
    y = zeros(1, numel(x))
    s = 0
    for i = 0..numel(x)-1
        s = updated(s, x[i])
        y[i] = s
    end
end
function y = with_float64(x)
    y = float64(zeros(1, numel(x)))
    y[0] = 0.1*x[0]
    for i = 1..numel(x)-1
        y[i] = 0.9*y[i-1] + 0.1*x[i]
    end
end
