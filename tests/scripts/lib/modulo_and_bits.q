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
print shl(1, 0/0), " ", shl(1, 1e300), " ", shr(8, 1e300)
print not(uint8([16,252])), not(int8([5,-3])), not(int16([5])), not(uint16([5])), type(not(uint8([3])))
print not(uint32([5])), not(int64([5])), not(uint64([5])), not([1,0] > 0), not(uint8([[1,2],[3,4]]))
