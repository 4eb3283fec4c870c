% options: --loops always
% Named constants are numbers in compiled loops, nan among them.
function [s, t] = least(x : vec)
    s = inf
    t = 0
    for i = 0..numel(x)-1
        v = x[i] < 0 ? nan : x[i]*pi
        if v < s
            s = v
        end
        t += v != v
    end
end
[s, t] = least([3, -1, 2, -5, 4])
print s, " ", t
