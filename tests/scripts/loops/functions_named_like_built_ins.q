% options: --loops always
% A function of the program may have the name of a built-in: its result is not fixed.
calls = [0]
function r = numel(x)
    calls[0] += 1
    r = 10 - calls[0]
end
function c = counted(x)
    i = 0
    c = 0
    while i < numel(x)
        i += 1
        c += 1
    end
end
function s = summed(x)
    s = 0
    for i = 0..3
        s += numel(x[i,:]) + sum(x[i,:])
    end
end
function m = max(a, b)
    m = 100
end
function s = biggest(x)
    s = 0
    for i = 0..3
        s = max(s, x[i,0])
    end
end
print counted(zeros(1,5))
print summed(ones(4,7))
print biggest(ones(4,7))
