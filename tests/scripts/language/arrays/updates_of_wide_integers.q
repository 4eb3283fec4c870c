% Compound assignments to elements of int64 and uint64 keep all digits and wrap, as the assignment to the whole array.
function [] = try_it(text)
    try
        print eval(text)
    catch e
        print "error: ", e
    end
end
function [] = __kernel__ add(x, v, pos : int)
    x[pos] += v
end
function [] = __kernel__ add_each(x, v, pos : int)
    x[pos] += v[pos]
end
start = int64([9007199254740993,4611686018427387905,9223372036854775807])
z = copy(start); z[0] += 1; z[2] += 1; print z
z = copy(start); z[0..2] -= 2; print z
z = copy(start); z[z > 9007199254740993] += 1; print z
z = copy(start); z[[0,2]] += [1,-1]; print z
z = copy(start); z[1..2] .*= 2; print z
z = copy(start); z[0] += 0.5; z[1] /= 2; print z
z = copy(start); z[0] += int(1); z[0] -= int(3); print z
z = copy(start); z += [1,2.5,-3]; print z
o = object(); o.a = copy(start); o.a[1] += 1; c = {o.a}; c[0][1] += 1; print o.a
for i = 0..2
    z[i] = start[i]
    z[i] += i
    z[i] -= 2.0
    z[i] .*= 3
end
print z
m = reshape(int64([1,2,3,4]), 2, 2) + int64([9007199254740992]); m[0,:] += 1; m[1,1] += 1; print m
u = uint64([9007199254740993,18446744073709551615,0])
v = copy(u); v[0] += 1; v[1] += 1; v[2] -= 1; print v
v = copy(u); v[0] += -1; v[1] += -1; v[2] += int(-1); print v
v = copy(u); v += int64([-1,-1,-1]); print v
v = copy(u); v[0..1] .*= -1; v[2] += uint64([18446744073709551615]); print v
v = copy(u); v[1] |= 1; v[1] &= 255; print v
z = copy(start); parallel_do(3, z, 1.0, add); parallel_do(3, z, [1,1,1], add_each); print z
v = copy(u); parallel_do(3, v, -1, add); parallel_do(3, v, int(-1), add); print v
z = copy(start)
try_it("z[0..1] += [1,2,3]")
try_it("z[0] += ""a""")
try_it("z[0] += 1j")
try_it("z[3] += 1")
