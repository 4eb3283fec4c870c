% exit: 1
function y = f(x : string)
    y = x
end
f([1,2])
