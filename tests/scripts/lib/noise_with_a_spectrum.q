import "colored_noise.q"
import "parallelblocks.q"
import "linalg.q"
randseed(1)
psd = generate_psd([[1,1],[1,1]]/2, [128,128])
y = cgn_rand(psd)
print abs(mean(psd) - 1) < 1e-4, abs(var(y) - 1) < 0.1, abs(mean(y.*circshift(y,[0,1])) - 0.5) < 0.1, " ", size(y)
% a spectrum that is given as a function
psd = generate_psd([64,96], psd_ct_ramp_spectrum_noise, 4, 0.5)
print abs(mean(psd) - 4.5) < 1e-4, " ", psd[0,0], " ", psd[32,0], " ", psd[16,0] > 2*psd[2,0]
y = cgn_rand([64,96,3], psd)
print size(y), " ", abs(mean(y.^2)/4.5-1) < 0.05, " ", abs(mean(y[:,:,0].*y[:,:,1])) < 0.1
print size(cgn_rand(size(psd), psd)), size(cgn_rand(psd))
try
    cgn_rand([3,4], psd)
catch e
    print e
end
