% Floats from 2^53 on are even integers, even those beyond every integer type.
function [] = __kernel__ power(x : vec[float64], y : vec[float64], z : vec[float64], pos : int)
    z[pos] = x[pos]^y[pos]
end
x = float64([-1, -1, -1, -1, -2, -1, -0.0, -0.0, -1, -2])
y = float64([2.0^52, 2.0^53 - 1, 2.0^62, 2.0^63, 2.0^63, 2.0^64, 2.0^63, -2.0^63, 3*2.0^64, 3])
z = float64(zeros(10))
parallel_do(10, x, y, z, power)
print z, " ", x.^y
print 1/z[6] > 0
