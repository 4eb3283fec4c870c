% exit: 1
function y = f(lenght)
    y = lenghth + prnt(3)
end
f(1)
