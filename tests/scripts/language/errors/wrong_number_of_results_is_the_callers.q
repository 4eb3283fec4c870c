% exit: 1
function [a, b] = two()
    a = 1
    b = 2
end
function [] = none(x)
    y = x
end
function r = three()
    [a, b, c] = two()
    r = a
end
try
    three()
catch e
    print e.line, ": ", e
end
try
    print none(1)
catch e
    print e.line, ": ", e
end
[a, b, c] = two()
