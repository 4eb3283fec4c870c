% shl and shr: bits beyond the type are lost, a negative count shifts in the other direction, on every path alike.
function [] = __kernel__ both(x : vec[int], n : vec[int], l : vec[int], r : vec[int], pos : int)
    l[pos] = shl(x[pos], n[pos])
    r[pos] = shr(x[pos], n[pos])
end
function [] = __kernel__ wide(x : vec[uint64], n : vec[int8], l : vec[uint64], pos : int)
    l[pos] = shl(x[pos], n[pos])
end
function [] = __kernel__ floats(x : vec, y : vec[int64], pos : int)
    y[3*pos] = and(x[pos], 65535)
    y[3*pos+1] = not(x[pos])
    y[3*pos+2] = shl(x[pos], 3)
end
function [] = __kernel__ literals(y : vec[int64], k : int, pos : int)
    y[pos] = shl(1, 40) + shr(-16, k)
end

x = int([1, -1, 2147483647, -2147483648, 5, -5, 1, 1])
n = int([31, 31, 1, 1, -1, -1, 32, 2147483647])
l = int(zeros(8))
r = int(zeros(8))
parallel_do(8, x, n, l, r, both)
print l
print shl(x, n)
print r
print shr(x, n)
print shl(int([1]), int([-2147483648])), shr(int([-9]), int64([9223372036854775807]))

u = uint64([18446744073709551615, 1, 6])
m = int8([1, 63, -1])
v = uint64([0, 0, 0])
parallel_do(3, u, m, v, wide)
print v
print shl(u, m)

f = float32([3000000000, 5, -6])
y = int64(zeros(9))
parallel_do(3, f, y, floats)
print y
print and(f, 65535), not(f), shl(f, 3), type(shl(f, 3))

z = int64([0])
parallel_do(1, z, 2, literals)
print z, " ", shl(1, 40) + shr(-16, 2)

% single elements are 64-bit numbers, in loops as outside them
s = int(88172645463325252)
for i = 1..1000
    s = xor(s, shl(s, 13))
    s = xor(s, and(shr(s, 7), int(144115188075855871)))
    s = xor(s, shl(s, 17))
end
print s
t = 0
for i = -20..70
    t += shl(i, 3) + shr(1000, i) + mod(int(i), int(-7)) + and(i, 6) - not(i)
end
print t, " ", shl(x[0], 40), " ", shl(3, -1), " ", shl(true, 3), " ", shl(2.0, 1)
print shl(uint8([200]), 1), type(shl(uint8([200]), 1)), shr(int16([-3]), 1), shl([true, false], 2)
print mod([true, true], [true, false]), mod(uint64([7]), int64([-3])), mod(int64([-1]), uint64([18446744073709551615]))
try
    print shl(2+1i, 1)
catch e
    print e
end
