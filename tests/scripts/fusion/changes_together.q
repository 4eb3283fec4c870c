% options: --loops always --explain
% devices: cpu
% exit: 1
% Statements that change arrays are one kernel with their neighbours, unless the arrays have elements in common.
function steps = escapes(x, y, cx, cy)
    steps = zeros(size(x))
    for k = 1..6
        inside = x.^2 + y.^2 < 4
        steps[inside] += 1
        t = x.^2 - y.^2 + cx
        y[inside] = (2*x.*y + cy)[inside]
        x[inside] = t[inside]
    end
end
function [x, v] = moved(x, v, a)
    v += 0.5*a
    x += 0.25*v.*(1 - x)
    x[x > 2] = 2
    x[x < -2] = -2
end
function [] = alias(x, same)
    x += 2*same
    z = x.*same + 1
    same[z > 9] = 0
    print z, x, same
end
function [] = element(x, same)
    x += 2*x
    z = x*same[1] + 1
    print z
end
function [] = replaced(x)
    same = x
    x += x.*2
    x = x.*2 + 1
    print x, same
end
function [] = fails(x, y)
    try
        x += 2*x
        x[y > 1] = y.*1
    catch e
        print e
    end
    print x
end
cx = [-2.25,-1,-0.5,0,0.25,0.5]
cy = [0,0.25,0.5,0,1,-0.5]
print escapes(zeros(6), zeros(6), cx, cy)
[x, v] = moved([1.0,2,3,-9], [1.0,-1,0,0], [4.0,2,0,-2])
print x, v
a = [1.0,2,3,4]
alias(a, a)
alias([1.0,2,3,4], [1.0,2,3,4])
a = [1.0,2,3,4]
element(a, a)
replaced([1.0,2,3,4])
fails([1.0,2,3], [1.0,2])
function [] = stretched(x, y, r, c, m)
    d = x + r
    try
        x[d > c] = (r + c)[d > c]
        y[m] = (x.*r)[m]
        y[x > 1] = y[x > 1].*2
        print x, y
        y += r
        y[m] = r[m]
    catch e
        print e
    end
    try
        y += 2*r
        y[r > 0] = 5
    catch e
        print e
    end
    try
        y += 2*r
        y[x > 0] = (r.*2)[x > 0]
    catch e
        print e
    end
    print y
end
x = [[1.0,2,3],[4,5,6]]
y = x - 3
r = [1.0,-2,0.5]
c = [[1.0],[2.5]]
stretched(copy(x), copy(y), r, c, x > 2)
stretched([1.0,2,3], [4.0,5,6], reshape(r, [1,3]), 1, [true,false,true])
error("ends here")
