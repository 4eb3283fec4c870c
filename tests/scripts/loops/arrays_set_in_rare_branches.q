% options: --loops always
% An array, cell or string that only the interpreter sets, in a branch that ends the compiled code, is the one before the
% loop until then.
h = 7*ones(1, 40)
s = 0
for i = 0..99
    s += sum(h)
    if i == 97
        h = ones(1, 40)
    end
end
print s
function [s, best] = keep_best(x)
    [m, s, best] = {-inf, 0, 3*ones(1, size(x, 1))}
    for i = 0..size(x, 0)-1
        s += max(best)
        if x[i,0] > m
            m = x[i,0]
            best = x[i,:] + 0
        end
    end
end
[s, best] = keep_best(reshape(mod((0..3999)*37, 4001), [100,40]))
print s, " ", sum(best)
function s = others(x)
    [q, name, s] = {{1,2}, "abc", 0}
    for i = 0..30
        s += numel(q) + strlen(name)
        if mod(i, 9) == 8
            q = {1, 2, 3, i}
            name = name + "x"
            print s, " ", name
        end
    end
end
print others(1)
