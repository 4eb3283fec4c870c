% options: --loops always
% The variable of a `while` inside another loop keeps its declared type, also in what is assigned from it.
function [] = f(n, k)
    s = 1
    u = 0
    for j = 0..k
        w : int64 = n - 1
        v : uint8 = 0
        while w >= -1
            s = w
            w = w - 1
            u += 0.5
        end
        while v < 3
            t = v
            v += 1
        end
    end
    print s, " ", type(s), " ", w, " ", type(w), " ", u, " ", t, " ", type(t), " ", v
end
f(2, 3), f(5, 0)
