% A parameter that is declared as an integer takes a number only if the type holds it; a variable converts, as int(x) does.
function y = f(n : int)
    y = n
end
function y = g(n : uint8 = 7)
    y = n
end
function [] = __kernel__ fill(x : vec, n : int, pos : int)
    x[pos] = n
end
function y = tried(f, x)
    try
        y = f(x)
    catch e
        y = sprintf("%s", e)
    end
end
for x = {3, -3, 255, 3.99, 2^40, 0/0, 1/0, -2^31, 2^31, int(300), true}
    print tried(f, x), " | ", tried(g, x)
end
print g()
function t = total(x)
    t = 0
    for i = 0..numel(x)-1
        t += f(x[i]) + g(x[i])
    end
end
print total([1,2,3]), " ", tried(total, [1,2.5,3]), " ", tried(total, [1,256,3])
x = zeros(2)
parallel_do(2, x, 3, fill)
print x
try
    parallel_do(2, x, 2.7, fill)
catch e
    print e
end
try
    parallel_do(2, x, 2^40, fill)
catch e
    print e
end
n : int = 2.7
print n
