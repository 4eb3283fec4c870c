% tolerance: 1e-5
import "imfilter.q"
g = gaussian_mask(1, 5)
print g, " ", sum(g), " ", numel(gaussian_mask(2)), " ", gaussian_mask(0, 3)
img = zeros(9,9)
img[4,4] = 1
y = gaussian_filter(img, 1, 5)
print max(abs(y[2..6,2..6] - transpose(g)*g)) < 1e-6, " ", sum(y)
flat = gaussian_filter(7*ones(6,5,3), 2, 0, "mirror")
print max(abs(flat - 7)) < 1e-5
z = gaussian_filter(img, [0, 1], 5)
print z[4,2..6], sum(z[3,:])
