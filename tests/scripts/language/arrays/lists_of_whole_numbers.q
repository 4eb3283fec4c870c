% A list is float64 (int64 beyond 2^53) if float32 cannot represent one of its integers; in loops, too.
k = 123456789012345678
print [k][0] - k, type([k]), type([k,0.5]), type([[1,2],[k,3]]), type([2^60]), type([0.1,1e30])
function [w, y] = sums(k)
    y = 0
    w = [0,0]
    for i = 0..9
        w = [k, i]
        y += w[0] - k
    end
end
[w, y] = sums(123456789012345678)
print type(w), w[0] - k, y
[w, y] = sums(16777217)
print type(w), y
[w, y] = sums(0.1)
print type(w), abs(y - 10*([0.1][0] - 0.1)) < 1e-12
% ints beyond 2^53 make a list of int64
ids = int64([9007199254740992,9007199254740992]) + int64([1,3])
l = [ids[0] + 1, ids[1], 7]
print type(l), l - ids[0], " ", type([ids[0],0.5])
u = int64([0,0])
u[:] = [k, 3]
print u - int64([k,0])
