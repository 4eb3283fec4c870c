% devices: ref cpu opencl
% Exponents that are odd multiples of 0.5 give products with a square root: the same in expressions, single operators and
% kernels, with the special values of IEEE 754.
function [] = __kernel__ power_at(x : vec, y : vec, pos : int)
    y[pos] = x[pos]^(-1.5)
end
x = [0, 1/0, -1/0, 0/0, -2, 2, 3.5, 1e-10, 1e10]
zero = -x[0]
for n = [1.5, -1.5, 2.5, -0.5, -2.5, 7.5]
    print n, ": ", x.^n, " ", [zero].^n
end
values = mod((0..39999)*7919, 1024)/256 + 0.125
for k = 1..40                          % long enough to be compiled
    a = max(2*(values.^(-1.5)), values.^2.5)
end
b = values.^(-1.5)
c = values.^2.5
b = 2*b
print any(a != max(b, c))
y = zeros(40000)
parallel_do(40000, values, y, power_at)
print any(y != values.^(-1.5))
print max(abs(float64(y)./exp(-1.5*log(float64(values))) - 1)) < 5e-7
w = float64(values)
print max(abs(w.^(-1.5)./exp(-1.5*log(w)) - 1)) < 2e-15
% a derivative at 0 is not lost
print grad(x -> sum(x.^1.5 + x.^2.5), [0,1,4])
print grad(x -> sum(x.^(-1.5)), [1,4])
