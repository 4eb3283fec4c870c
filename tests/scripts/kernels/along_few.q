% devices: cpu cuda
% Reductions and scans that do not use host loops: one position each, in groups, in several stages.
import "along_cases.q"

x = float32(reshape(wave(3*700, 0.7), [3,700]))
for dim = 0..1
    check("sum", () -> sum(x, dim), 1.2e-7)
    check("var", () -> var(x, dim), 1e-6)
end
check("max", () -> max(x, [], 1), 0)
check("long", () -> sum(reshape(float32(wave(6000, 1.9)), [3000,2]), 0), 1.2e-7)
check("everything", () -> norm(float32(wave(5000, 0.3))), 1.2e-7)
z = complex(x[:,0..20], x[:,1..21])
check("complex", () -> prod(z, 0), 1e-6)
check("truths", () -> any(x[:,0..20] > 1.9, 1), 0)
row = x[0..0,:]
check("stretched", () -> x.*row - 1, 0)
check("powers", () -> abs(row).^0.5, 1e-6)
print "done"
