% Numbers combined with integer elements: they have the bit width of the elements, and no digit of 64 bits is lost.
x = uint32([7,2147483648,5]); x &= -3
print x, and(uint32([7,6]), not(2)), and(uint8([7,6]), not(2)), xor(uint32([7]), -1), xor(uint8([5]), -1)
x = uint16([7,200]); x ~= -1
print x
x = uint8([7,200]); x |= -16
print x, or(uint8([7,200]), -16), and(int8([-5]), 255), and(int([-7]), 4294967295)
for tried = {() -> and(uint8([1]), 256), () -> or(int8([1]), -129), () -> and(uint64([7]), -3)}
    try
        print tried()
    catch e
        print e
    end
end
x = int64([9007199254740993]); x += 0; x += 2; x -= 1
print x
x = int64([9007199254740993])
print x == 9007199254740992, x > 9007199254740992
x *= 1
print x
