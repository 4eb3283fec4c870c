% Constant exponents of recorded powers are compiled in as products, which have the derivatives of the power.
x = float64([-1.5,0,2,inf,nan,-0.0,1e300])
for n = [-2,1,2,3,5,16]
    print n, " ", grad(u -> sum(abs(flip(u)).^n), x), grad(u -> sum(flip(u).^n), x)
end
y = float64([1.5,2])
[a, b] = grad((u,n) -> sum(flip(u).^n), y, 2.0)
print a, b
print hessian(u -> sum(flip(u).^3), y), hessian(u -> sum(flip(u).^-1), y)
z = float64(linspace(1,2,100000))                % many elements: compiled code
d = grad(u -> sum(flip(u).^3), z)
print max(abs(d - 3*z.^2)) < 1e-12
