% The largest element so far, of an array of integers.
function x = inputs()
    x = int(mod((0..499999)*7919, 100003))
end
function y = zero_before(x)
    y = int(zeros(1, numel(x)))
    m = 0
    for i = 0..numel(x)-1
        if x[i] > m
            m = x[i]
        end
        y[i] = m
    end
end
function y = element_before(x)
    y = int(zeros(1, numel(x)))
    m = x[0]
    for i = 0..numel(x)-1
        m = max(m, x[i])
        y[i] = m
    end
end
function y = with_while(x)
    y = int(zeros(1, numel(x)))
    m = int(0)
    i = 0
    while i < numel(x)
        m = x[i] > m ? x[i] : m
        y[i] = m
        i += 1
    end
end
function y = larger(a, b)
    if a > b
        y = a
    else
        y = b
    end
end
function y = with_function(x)
    y = int(zeros(1, numel(x)))
    m = 0
    for i = 0..numel(x)-1
        m = larger(m, x[i])
        y[i] = m
    end
end
