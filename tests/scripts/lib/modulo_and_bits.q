print mod(5,3), mod(-1,3), mod(1,-3), " ", mod(5.5,2), " ", mod([-3,-2,-1,0,1,2,3],3)
print periodize(-1, 8), " ", periodize([8,9,-9], 8)
print mod(int(7), int(4)), " ", type(mod(int(7), int(4)))
print and(12,10), " ", or(12,10), " ", xor(12,10), " ", not(int(5))
print and(true,false), or(true,false), xor(true,true), not(false)
print shl(3,4), " ", shr(-5,1), " ", shl(int(1),20), " ", type(shl(int(1),3)), " ", shr([8,9,10],1)
m : vec[int] = [1,2,3]
print and(m, 1), " ", or(m, 4), " ", shl(m, 2), " ", type(shl(m, 2)), " ", not(m)
print mod(m, m), " ", type(mod(m, int(2))), " ", mod(int(7), int(0)), " ", mod(-3, 3)
print and([5,6,7], 4), " ", type(and([5,6], int(4))), " ", xor([1,2],[3,3]), not([0,5])
try
    print max([1,2], [1,2,3])
catch e
    print e
end
print shl(1, 1e18), " ", shl(1, -1e18), " ", shr(8, 1e18)
print not(uint8([16,252])), not(int8([5,-3])), not(int16([5])), not(uint16([5])), type(not(uint8([3])))
print not(uint32([5])), not(int64([5])), not(uint64([5])), not([1,0] > 0), not(uint8([[1,2],[3,4]]))

% integers are exact beyond 2^53
big = int64([9007199254740992]) + int64([1])
print mod(big, int64([10])), mod(big[0], int(10)), mod(uint64([18446744073709551615]), uint8([10])), mod(-big, int64([10]))
print shl(big, 1), shl(big[0], 1), shr(shl(big, 5), 5), shl(big, 60), shl(-big, 60), shr(big, -1), shl(big, -60), shr(-big, 99)
print mod(uint64([18446744073709551615]), int(10)), type(mod(uint64([5]), int(3))), mod(uint64([7]), int(-3))
print mod(int64([-9223372036854775808]), int64([-1])), shl(uint8([200]), 1), shl(uint64([1]), 63), shl(int(1), 70)
seed = int(12345)
for i = 1..1000
    seed = mod(int(1103515245)*seed + int(12345), int(2147483648))
end
print seed
