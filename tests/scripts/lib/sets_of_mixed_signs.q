% Sets of int64 and uint64: elements are equal if their integer values are.
s = int64([-5,-1,0,7,9007199254740993,9223372036854775807])
u = uint64([18446744073709551615,7,0,9007199254740992,9223372036854775807])
print intersect(s, u), type(intersect(s, u)), setdiff(s, u), setdiff(u, s), numel(union(s, u)), " ", type(union(s, u))
print setxor(int8([-1,3]), uint64([3,255])), union(uint64([2]), int([1,-1]))
[there, at] = ismember(u, s)
print there, at
print isequal(u[0..2..2], s[[3,3]]), isequal(u[[1,2]], s[[3,2]])
% and of int64 and floats
f = float64([9007199254740992,4,nan])
w = int64([9007199254740993,9007199254740992,4])
[there, at] = ismember(w, f)
print there, at, ismember(f, w), intersect(w, f), type(intersect(w, f)), setdiff(w, f), setdiff(f, w), union(w[1..2], f)
print ismember(9007199254740992, w), ismember(int(9007199254740993), f), union(uint64([2,18446744073709551615]) - uint64([1]), uint64([7]))
try
    print union(w, f)
catch e
    print e
end
try
    print setxor(f, uint64([9007199254740993]))
catch e
    print e
end
% nan: once in unique and union, in no other set, also not in cells
n = [nan,1,nan]
print unique(n), union(n, n), intersect(n, n), setdiff(n, n), setxor(n, [1,nan]), ismember(n, n), ismember(nan, {nan})

% Complex elements hold integers up to 2^53.
c = [2^53, 1] + 0i
for k = {int64([9007199254740993,5]), int64([-9223372036854775807-1,5]), uint64([18446744073709551615]), int64([7,1])}
    try
        print union(k, c)
    catch e
        print e
    end
    try
        print ismember(c, k)
    catch e
        print e
    end
end
