% exit: 1
function y = f(x)
    y = x
end
f(1, 2)
