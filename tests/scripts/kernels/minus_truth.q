% Minus a truth value is -1 or 0, however the truth value was computed.
function [] = __kernel__ signs(x : vec, y : vec, z : vec[float64], pos : int)
    y[pos] = -(x[pos] > 1.5 && x[pos] < 3.5)
    z[pos] = -(x[pos] > 1.5 || x[pos] < 0.5)
end
y = zeros(4)
z = float64(zeros(4))
parallel_do(4, [0,1,2,3], y, z, signs)
print y, z

x = 1.0*(0..999999)
b = x > 10
d = x < 20
y = ((-b).*d).*x
print sum((-b).*d), " ", y[15]
