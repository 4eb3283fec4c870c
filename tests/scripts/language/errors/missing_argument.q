% exit: 1
function y = f(x, z)
    y = x
end
f(1)
