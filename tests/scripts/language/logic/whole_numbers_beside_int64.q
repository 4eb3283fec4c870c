% int64 and uint64 keep their digits when combined with integers, in every choice and comparison.
a = int64([9223372036854775807,9007199254740993,1])
u = uint64([18446744073709551615,1])
print where(a > 0, a, 0), max(a, 5), min(9007199254740992, a), clamp(a, 0, 9007199254740993), clamp(a, 9007199254740993)
print mod(a, 10), (a > 1 ? a : 0), max(a, 2.5)
print max(u, 5), where(u > 5, u, 0), mod(u, 10), type(max(u, 5)), type(max(u, -1)), type(max(a, 2.5))
print mode(int64([9007199254740993,9007199254740993,9007199254740992])), " ", mode(u), " ", nanmax(u), " ", nanmin(a)
print mode(int64([[1,1,2],[2,2,3]]), 1), mode(int64([[1,1,2],[2,2,3]]), 0), nanmax(int64([[1,1,2],[2,2,3]]), 0)
i = a[1]
print i == 2^53, " ", i > 2^53, " ", i == 9007199254740993, " ", i < 2^53+2, " ", 2^53 < i, " ", a[0] < 2^63, " ", a[0] == 2^63
half = 2^52 + 0.5
function y = compared(l, x)
    y = 0
    for k = 0..2
        if l[k] < x
            y += 1
        end
        if x <= l[k]
            y += 10
        end
        if l[k] == x
            y += 100
        end
        if x != l[k]
            y += 1000
        end
    end
end
l = int64([4503599627370496,4503599627370497,-9223372036854775807])
for x = {half, 2^52, 2^53, 2^63, -2^63, nan, inf}
    write(compared(l, x), " ")
end
print compared(a, 9007199254740992.0), " ", compared(a, 2^63)
