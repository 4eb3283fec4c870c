% An integer literal is never rounded when it becomes an integer element.
print uint64([18446744073709551614]), uint64([9223372036854775809, 1]), [18446744073709551615]
print uint64([9223372036854775807, 9223372036854775808]), int64([-9223372036854775808, 9007199254740993])
print uint64([0FFFFFFFFFFFFFFFEh]), int64([20000000000001h]), 20000000000001h
print int64([[9007199254740993,1],[1,2]]), int64([[-9007199254740993,1],[1,2]])
x : vec[uint64] = [18446744073709551614, 3]
x[1] = 9007199254740993
print x, [9007199254740993, 2], -9007199254740993
print int64([18446744073709551614])                       % saturates, as conversions do
print 18446744073709551616, 100000000000000000000000h == 2.0^92
function [] = __kernel__ k(x : vec[int64], y : vec[uint64], pos : int)
    match pos with
    | 0 -> x[pos] = 9007199254740993;     y[pos] = 18446744073709551614
    | 1 -> x[pos] = -9223372036854775808; y[pos] = 0FFFFFFFFFFFFFFFDh
    | 2 -> x[pos] = 20000000000001h;      y[pos] = 9223372036854775809
    | _ -> v = uint64([18446744073709551614, 1]); y[pos] = v[0]
    end
end
n = int64(zeros(4))
m = uint64(zeros(4))
parallel_do(4, n, m, k)
print n, m
{!parallel for}
for i = 0..3
    n[i] = 9007199254740993
end
print n
