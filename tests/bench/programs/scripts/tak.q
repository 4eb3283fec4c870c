% The function of Takeuchi
function n = inputs(size)
    n = size
end
function y = takeuchi(a, b, c)
    if b >= a
        y = c
    else
        y = takeuchi(takeuchi(a-1, b, c), takeuchi(b-1, c, a), takeuchi(c-1, a, b))
    end
end
function y = tak(n)
    y = takeuchi(n, floor(2*n/3), floor(n/3))
end
