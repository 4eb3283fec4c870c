% exit: 1
function y = f(x)
    if x > 1
        z = 2
    end
    y = z
end
f(0)
