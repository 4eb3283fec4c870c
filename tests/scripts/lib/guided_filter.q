import "fastguidedfilter.q"
[x, y] = meshgrid(0..63, 0..63)
step = float(x > 31)
randseed(1)
noisy = step + 0.05*randn(64,64)
q = fastguidedfilter(noisy, noisy, 8, 0.04, 2)
print std(q[:,0..24] - 0) < 0.02, mean(q[:,40..63]) - mean(q[:,0..24]) > 0.95, " ", size(q)
print max(abs(fastguidedfilter(step, 3*ones(64,64), 4, 0.01, 4) - 3)) < 1e-3
