% exit: 1
function y = f(x)
    if x
        y = 1
    y = 2
