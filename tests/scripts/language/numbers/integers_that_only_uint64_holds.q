% exit: 1
z = uint64([1])
z[0] = 18446744073709551614
w = [18446744073709551614, -1]
f = (x) -> x + 0FFFFFFFFFFFFFFFFh
print uint64([18446744073709551614])
% elements beyond int64 keep every digit in formats and in JSON
most = uint64([18446744073709551615,7])
print sprintf("%d %x", most, most), " ", jsonencode(most), " ", jsonencode(jsondecode("[18446744073709551615]"))
