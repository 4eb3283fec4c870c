import "colored_noise.q"
import "parallelblocks.q"
import "linalg.q"
randseed(1)
psd = generate_psd([[1,1],[1,1]]/2, [128,128])
y = cgn_rand(psd)
print abs(mean(psd) - 1) < 1e-4, abs(var(y) - 1) < 0.1, abs(mean(y.*circshift(y,[0,1])) - 0.5) < 0.1, " ", size(y)
