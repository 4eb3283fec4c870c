% The integral of a function by Simpson's rule
function n = inputs(size)
    n = size
end
function y = curve(x)
    y = exp(-x*x)*sin(3*x) + 1/(1 + x*x)
end
function y = simpson(n)
    h = 4/n
    y = curve(0) + curve(4)
    for k = 1..n-1
        if mod(k, 2) == 1
            y += 4*curve(k*h)
        else
            y += 2*curve(k*h)
        end
    end
    y *= h/3
end
