% exit: 1
function y = f(x)
    y = f(x+1) + 1
end
f(0)
