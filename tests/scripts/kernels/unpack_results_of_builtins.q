% The results of size and similar functions are meant to be unpacked, however they are called: no warning is printed.
function [] = __kernel__ by_method(x : mat, y : vec, pos : int)
    [m, n] = x.size()
    y[pos] = 10*m + n
end
function [] = __kernel__ by_value(x : mat, f, y : vec, pos : int)
    [m, n] = f(x)
    y[pos] = 10*m + n
end
x = ones(4, 5)
y = zeros(2)
parallel_do(2, x, y, by_method)
print y
parallel_do(2, x, size, y, by_value)
print y
s = 0
g = size
for i = 0..999
    [m, n] = g(x)
    s += m*n
end
print s
