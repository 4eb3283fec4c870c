% exit: 1
function y = f(x)
    if x > 1
        y = 2
    end
end
z = f(0)
