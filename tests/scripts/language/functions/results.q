function y = one()
    y = 1
end
function [y] = bracketed()
    y = 2
end
function y : mat = typed()
    y = ones(2,2)
end
function [] = nothing()
    print "nothing"
end
function [a:vec3, b] = two()
    a = [1,2,3]
    b = 4
end
print one(), bracketed(), numel(typed())
nothing()
[a, b] = two()
print a, b
