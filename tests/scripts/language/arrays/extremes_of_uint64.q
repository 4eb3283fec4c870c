% The position of an extreme that float64 does not hold.
a = uint64([1,18446744073709551613,18446744073709551614,8])
print find_index_max(a), " ", argmax(a), " ", find_index_min(a)
[m, i] = max(a)
print i
