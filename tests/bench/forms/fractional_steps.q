% The integral of a function by the midpoint rule.
function n = inputs()
    n = 200000
end
function s = with_range(n)
    s = 0
    h = 1/n
    for t = h/2..h..1
        s += sqrt(1 - t*t)*h
    end
end
function s = with_counter(n)
    s = 0
    h = 1/n
    for i = 0..n-1
        t = (i + 0.5)*h
        s += sqrt(1 - t*t)*h
    end
end
function s = with_while(n)
    s = 0
    h = 1/n
    t = h/2
    while t < 1
        s += sqrt(1 - t*t)*h
        t += h
    end
end
function s = with_expression(n)
    h = 1/n
    t = (float64(0..n-1) + 0.5)*h
    s = sum(sqrt(1 - t.*t))*h
end
