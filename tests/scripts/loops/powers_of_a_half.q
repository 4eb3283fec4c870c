% options: --loops always --precision 64
% x^0.5 is the square root in the interpreter, in a loop as machine code, in an array and in a kernel.
function [] = __kernel__ k(x : vec[float64], y : vec[float64], h : float64, pos : int)
    y[pos] = x[pos]^0.5 - sqrt(x[pos])
end
x = float64([8.673617379884037e-19, 2, 3, 1e300])
a = zeros(4)
b = zeros(4)
h = 0.5
for i = 0..3
    a[i] = x[i]^0.5 == sqrt(x[i])
    b[i] = x[i]^h == sqrt(x[i])
end
y = float64(ones(4))
parallel_do(4, x, y, 0.5, k)
print a, b, x.^0.5 == sqrt(x), y
