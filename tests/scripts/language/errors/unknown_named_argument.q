% exit: 1
function y = f(x, width = 3)
    y = x
end
f(1, widht:=2)
