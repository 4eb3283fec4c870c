% Integral numbers are written digit by digit; all others by the C library.
for x in {0, -0.0, 1, -1, 10, 99, 100, -123456789, 999999999999999, -999999999999999, 1e15, -1e15, 1e16, 2^53, 0.5, -0.1, 1e-5, 1/0, -1/0, 0/0}
    print x, " ", num2str(x), " ", strcat("<", x, ">"), " ", {x}
end
for k in {int64(2)^62, -int64(2)^62, int(0), int(-7), true, false}
    print k, " ", num2str(k)
end
print int64([9223372036854775807, -9223372036854775808]), uint64([18446744073709551615, 0])
print 3+0j, " ", -0.0-2j
print [1.5, -0.0, 0, 1e6, 123456, 1e15, -1e20]
s = ""
for k = 0..70
    s = s + num2str(mod(k, 10))
    if mod(k, 7) == 0
        print s == substr(s + "x", 0, k + 1), " ", strlen(s), " ", strfind(s, "345")
    end
end
