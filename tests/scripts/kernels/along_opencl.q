% devices: opencl
% The cases of along_few.q; a driver compiles them slowly.
import "along_cases.q"

x = float32(reshape(wave(2*700, 0.7), [2,700]))
check("sum", () -> sum(x, 1), 1.2e-7)
check("max", () -> max(x, [], 0), 0)
check("stretched", () -> x.*x[0..0,:], 0)
print "done"
