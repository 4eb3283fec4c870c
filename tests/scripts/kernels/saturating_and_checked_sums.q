% Expressions that replace the modifiers 'sat and 'checked of the original language, in a kernel and on the host.
function [] = __kernel__ add(a : vec[uint8], b : vec[uint8], s : vec[uint8], c : ivec, d : ivec, t : ivec, pos : int)
    s[pos] = uint8(a[pos] + b[pos])
    t[pos] = int(float64(c[pos]) + d[pos])
end
function [] = __kernel__ checked_add(c : ivec, d : ivec, t : ivec, pos : int)
    assert(abs(float64(c[pos]) + d[pos]) < 2^31)
    t[pos] = c[pos] + d[pos]
end
a = uint8([200,100,0,255])
b = uint8([100,100,0,255])
c = int([2147483647,-2147483647,5,2147483600])
d = int([1,-2,7,47])
s = uint8(zeros(4))
t = int(zeros(4))
parallel_do(4, a, b, s, c, d, t, add)
print s, t, uint8(a + b), int(float64(c) + d)
for k = 0..3
    s[k] = a[k] + b[k]
    t[k] = c[k] + d[k]
end
print s, t
parallel_do(2, c[2..3], d[2..3], t, checked_add)
print t
try
    parallel_do(4, c, d, t, checked_add)
    sync()
catch e
    print "overflow"
end
