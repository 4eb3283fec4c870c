% int(x) is the same whether x is known when the kernel is compiled or not.
function [] = __kernel__ convert(y : vec[float64], big, none, most, pos : int)
    y[0] = int(2.7) + int(-2.7)
    y[1] = int(3e9) - int(big)
    y[2] = int(0/0) - int(none)
    y[3] = int(-1/0) - int(-most)
    y[4] = int(1e20)
end
y = float64(zeros(5))
parallel_do(1, y, 3e9, nan, inf, convert)
print y
