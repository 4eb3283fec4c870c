% options: --loops always
% A value that a bool array cannot hold is reported before an index out of its bounds, as in the interpreter.
function [] = set(b, at, x)
    try
        for i = 0..0
            b[at] = x
        end
    catch e
        print e
    end
    try
        for i = 0..0
            b[at..at+1] = x
        end
    catch e
        print e
    end
end
b = [1,2,3] > 1
set(b, 5, 3)
set(b, 5, 1)
set(b, 0, 3)
set(b, 0, nan)
print b
