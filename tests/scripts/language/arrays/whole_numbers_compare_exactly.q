% Integers are compared exactly, whatever their types; also a uint64 with a signed integer.
s = int64([9007199254740993,-1,9223372036854775807,0])
u = uint64([9007199254740992,18446744073709551615,9223372036854775807,1])
print s > u, s >= u, s < u, s <= u, s == u, s != u
print u > s, u < s, u == s, min(s, u) == min(u, s), u > -1, s < u[0]
print isequal(s, u), isequal(int64([5,6]), uint64([5,6])), isequal(u, copy(u)), isequal(s[0..0], u[0..0])
print isequal(uint64([18446744073709551615]), uint64([9223372036854775807]) + uint64([9223372036854775807]))
print ismember(s, u), ismember(int64([9007199254740993]), uint64([9007199254740993])), ismember(u, s)
print unique(s), unique(u), sort(u)
% 9007199254740993 is not a double, and so it is an int; a list of such numbers is int64.
k = 9007199254740993
print k, " ", -k, " ", type(k), " ", type([k,1]), " ", [k,1], " ", k == 9007199254740992, " ", k > s[0]
% Operations on unsigned integers give the wider type.
print type(uint64([1]) + uint8([1])), type(uint32([1]) - uint16([2])), uint32([1]) - uint16([2])
print uint64([18446744073709551615]) + uint8([0]), uint64([18446744073709551615]) - uint32([1]), uint64([7]) + ([1] > 0)
print and(uint64([18446744073709551615]), uint8([129])), or(uint64([18446744073709551614]), uint8([1]))
a = uint64([18446744073709551615])
a &= uint8([12])
print a, type(int([1]) + uint32([1])), type(int64([1]) + uint64([1]))
% The negative of an unsigned number wraps, as its sums do.
print -uint32([17]), type(-uint32([17])), -uint64([0,5]), type(-uint64([17])), -uint8([200]), -uint16([1])
function [] = __kernel__ both(s : vec[int64], u : vec[uint64], b : vec[uint8], y : mat, pos : int)
    y[pos,0] = s[pos] > u[pos]
    y[pos,1] = u[pos] <= s[pos]
    y[pos,2] = u[pos] == s[pos]
    y[pos,3] = u[pos] > -1
    y[pos,4] = u[pos] + b[pos] == u[pos]
    y[pos,5] = s[pos] == 9007199254740993
end
y = zeros(4,6)
parallel_do(4, s, u, uint8([0,1,2,0]), y, both)
print y
