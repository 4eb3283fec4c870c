% A loop with a `return` that no iteration reaches runs in parallel, and continues after the loop.
function y = doubled(x, never)
    y = zeros(size(x))
    for i = numel(x)-1..-1..0
        if (i > 7 || never) && 1.5 == 3
            return
        end
        y[i] = x[i]*2
    end
    y[0] = -1
end
function [a, b, c] = others(n) % leaves numbers where loops have their results
    a = 1.5
    b = 2.5
    c = 3.5
    for i = 0..n-1
        a += 1
        b = 1/(a+b)
        c = a + b
    end
end
for k = 1..3
    [a, b, c] = others(10*k)
    print sum(doubled(linspace(0,1,1000), false)), " ", doubled([1,2,3], false)
end
