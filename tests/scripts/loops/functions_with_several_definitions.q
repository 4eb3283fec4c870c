% options: --loops always
% Calls of functions with several definitions, which differ in the number of arguments, and of functions that are named
% like a built-in.
function y = f(a)
    y = a + 1
end
function y = f(a, b)
    y = a*b
end
function y = f(a, b, c)
    y = a - b - c
end
function [m, k] = argmax(v)
    m = -inf
    k = 0
    for i = 0..numel(v)-1
        if v[i] > m
            m = v[i]
            k = 10*i
        end
    end
end
function y = sign(x)
    y = x < 0 ? -2 : 2
end
function y = typed(x : int)
    y = 100
end
function y = typed(x : scalar)
    y = 200
end
function y = run(x)
    y = zeros(numel(x))
    for i = 0..numel(x)-5
        [m, k] = argmax(x[i..i+4])
        y[i] = f(x[i]) + f(m, 2) + f(k, i, 3) + sign(x[i])
    end
end
function s = kinds(x)
    s = 0
    for i = 0..numel(x)-1
        s += typed(x[i]) + typed(int(i))
    end
end
x = mod((0..19)*37, 11) - 4
print run(x)
print kinds(x)
function y = sign(x)
    y = 1000
end
print run(x)
