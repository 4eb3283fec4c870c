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

% Masks that are larger than the image: every border as an extended image has it, also with a center outside of the mask
for mode = {"mirror", "reflect", "circular", "clamped", "zeros"}
    worst = 0.0
    for s = {[4,7], [1,5], [6,1], [2,2], [1,1]}
        x = float64(rand(s[0], s[1]))
        g = float64(gaussian_mask(30))
        r = (numel(g)-1)/2
        wanted = conv2(bound_extension(x, r, r, mode), transpose(g)*g, "valid")
        worst = max(worst, max(abs(gaussian_filter(x, 30, 0, mode) - wanted)))
        mask = float64(rand(11,9))
        for c = {[5,4], [0,0], [10,8], [-3,14], [40,-30]}
            ext = bound_extension(x, 60, 60, mode)
            turned = ext[60+c[0]-10..59+c[0]+s[0], 60+c[1]-8..59+c[1]+s[1]]
            worst = max(worst, max(abs(imfilter(x, mask, c, mode) - conv2(turned, mask, "valid"))))
        end
    end
    print mode, " ", worst < 1e-7
end
x = rand(8,8)
flat = y -> max(abs(y - mean(x))) < 1e-6
print flat(gaussian_filter(x, 1e6)), " ", flat(gaussian_filter(x, 1e4, 0, "circular"))
z = float64(x)
h = float64(rand(1,31))
for mode = {"mirror", "reflect", "circular", "clamped", "zeros"}
    loss = (x, m) -> sum(imfilter(x, m, [4,2], mode).*z)
    dx = grad(x -> loss(x, h), z)
    dh = grad(m -> loss(z, m), h)
    [a, b, c, d] = {copy(z), copy(z), copy(h), copy(h)}
    a[3,0] += 1
    b[3,0] -= 1
    c[0,25] += 1
    d[0,25] -= 1
    print abs((loss(a, h) - loss(b, h))/2 - dx[3,0]) < 1e-9, " ", abs((loss(z, c) - loss(z, d))/2 - dh[0,25]) < 1e-9
end
