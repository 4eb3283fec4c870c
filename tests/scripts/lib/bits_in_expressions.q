% Expressions of bit functions are one kernel, with the results of the functions called one by one.
x = float32([3000000000, 5, -6, 7])
n = int([1, 2, -1, 40])
u = uint8([200, 3, 255, 16])
w = uint64([18446744073709551615, 1, 2, 3])
t = [true, false, true, false]
print and(x, 65535) + 1, or(x, 1) .* 2, xor(n, 5) - n, not(n) + n, type(and(x, n) + 0)
print shl(x, 3) - x, shr(n, 1) + n, shl(u, 1) + u, shl(n, n) + 0, type(shl(u, 1))
print and(u, 15) + u, or(u, u) .* 1, type(and(u, 15)), not(u), not(u) + int([0,0,0,0])
print xor(w, 1), and(w, w) == w, or(w, uint8([1,1,1,1])) > w
print and(t, t) .* 1, or(t, not(t)), xor(t, t) + 1, and(n, -1) + 0, xor(u, -1) + 0
try
    print and(n, 1.5) + n
catch e
    print e
end
try
    print and(n, w) + n
catch e
    print e
end
