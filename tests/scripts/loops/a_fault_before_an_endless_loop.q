% options: --loops always
% An iteration after the failing one never begins: here it would not terminate.
function [] = count(x, z)
    s = 0
    try
        for i=0..9
            w = 0
            if x[i == 1 ? 5 : 0] > 1e9
                w = 1
            end
            while z[mod(i,3)] > w
                w = w*0.5
            end
            s += w
        end
    catch e
        print e, "; ", i
    end
end
count([1], [0,1,1])
