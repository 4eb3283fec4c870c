% Long lists of indices of every element type select the same elements, and indices outside are errors.
t = mod((0..999)*37, 101)
for x = {uint8(mod(0..9999, 200)), int(mod((0..9999)*7, 1000)), int64(mod((0..9999)*7, 1000)), uint64(mod((0..9999)*7, 1000)), mod((0..9999)*7, 1000), int8(mod((0..9999)*7, 100)), uint16(mod((0..9999)*7, 1000)), float64(mod((0..9999)*7, 1000))}
    y = t[x]
    write(sum(y), " ")
    m = reshape(t, [20,50])
    z = m[mod(x, 20),mod(x, 50)[0..99]]
    write(sum(z), " ")
end
print ""
for x = {int(0..9999), uint64([18446744073709551615.0,1]), int64(-1..9998), int(mod(0..9999,1001)), uint8([0,200,255])}
    try
        print sum(t[x])
    catch e
        print e
    end
end
u : vec'clamped = t
print sum(u[int(-5000..4999)]), " ", sum(u[mod(int(0..9999),1001)])
