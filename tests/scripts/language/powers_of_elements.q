% Beyond the exponent 16, powers of elements have the bits of powers of numbers.
x = float64([171.6, 1e160, 3])
y = x.^64
e = -18
z = x.^e
for i = 0..2
    printf("%.17g %.17g %.17g %.17g\n", y[i], x[i]^64, z[i], x[i]^-18)
end
u = x.^-17
printf("%.17g %.17g\n", u[0], x[0]^-17)
z = [1+2i, 3i]
print z.^20
