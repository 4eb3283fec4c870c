% Sets of int64 and uint64: elements are equal if their integer values are.
s = int64([-5,-1,0,7,9007199254740993,9223372036854775807])
u = uint64([18446744073709551615,7,0,9007199254740992,9223372036854775807])
print intersect(s, u), type(intersect(s, u)), setdiff(s, u), setdiff(u, s), numel(union(s, u)), " ", type(union(s, u))
print setxor(int8([-1,3]), uint64([3,255])), union(uint64([2]), int([1,-1]))
[there, at] = ismember(u, s)
print there, at
print isequal(u[0..2..2], s[[3,3]]), isequal(u[[1,2]], s[[3,2]])
