% exit: 1
o.name = 3
x[0] = 1
function y = f()
    p.x = 1
    y = p
end
