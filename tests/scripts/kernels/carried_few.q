% devices: cpu cuda opencl
% The cases of carried.q, some of them as machine code.
import "along_cases.q"

x = float32(reshape(wave(2*3*700, 0.7), [2,3,700]))
z = complex(x[:,:,0..20], x[:,:,1..21])
check("permute", () -> permute(z, [2,0,1]), 0)
check("join", () -> cat(1, x, x[:,1..-1..0,:]), 0)
check("list", () -> x[1,[2,0],[3,1,650]], 0)
check("mask", () -> x[x > 1.2], 0)
check("choose", () -> x > x[:,1..1,:] ? x : 1, 0)
check("long", () -> cumsum(reshape(x, [1,4200])), 1.2e-7)
check("across", () -> cumprod(1 + x/64, 1), 1.2e-7)
check("place", () -> find_index_max(x), 0)
print "done"
