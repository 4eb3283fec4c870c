% Restored images, textures and groups of points agree with scikit-image and SciPy: tests/goldens/make.py.
import "imrestore.q"
import "kmeans.q"
g = load("tests/goldens/restoration.npz")
function [] = check(name, got, wanted, tolerance = 1e-6)
    if !isequal(size(got), size(wanted)) || !allclose(got, wanted, tolerance, tolerance*max(abs(wanted)))
        print name, " is wrong: ", size(got), " ", size(wanted)
        print max(abs(got - wanted))
    endif
end
check("deconvwnr", deconvwnr(g.blurred, g.psf, 0.01), g.wiener)
check("deconvlucy", deconvlucy(g.blurred, 3*g.psf, 7), g.lucy)
check("without noise", deconvwnr(g.blurred, g.psf), g.z, 1e-4)
check("denoise_tv", denoise_tv(g.z, 3), g.tv)
flat = zeros(20,20)
flat[:,10..19] = 100
noisy = flat + 5*sin((0..19)*7).*transpose(cos((0..19)*5))
print norm(nlmeans(noisy, 5) - flat) < 0.5*norm(noisy - flat), " ", isequal(nlmeans(flat, 1), flat), " ", allclose(nlmeans(noisy, 1e-3), noisy)
% A picture of linear slopes has its colours back inside; colours of the sensor stay.
[c, r] = meshgrid(0..9, 0..7)
color = cat(2, 2*r + c, 3*c + 5, r + 20)
red = mod(r,2) == 0 && mod(c,2) == 1
blue = mod(r,2) == 1 && mod(c,2) == 0
sensor = red ? color[:,:,0] : blue ? color[:,:,2] : color[:,:,1]
rgb = demosaic(sensor, "grbg")
print max(abs((rgb - color)[2..5,2..7,:])) < 1e-4, " ", isequal(rgb[:,:,0][red], sensor[red])
print max(abs(demosaic(7*ones(6,6), "bggr") - 7)), " ", size(demosaic(ones(5,7)))
x = phantom(101)
print size(x), " ", x[50,50], " ", sum(x > 0.9) > 500, " ", phantom(101, "original")[4,50], " ", x[0,0]
check("graycomatrix", graycomatrix(g.levels, [0,1], 5), g.right)
check("upward", graycomatrix(g.levels, [1,0], 5) + graycomatrix(g.levels, [-1,0], 5), g.up + transpose(g.up))
s = graycoprops(graycomatrix(g.levels, [0,1], 5, true))
check("Contrast", [s.Contrast], g.contrast)
check("Correlation", [s.Correlation], g.correlation)
check("Energy", [s.Energy], g.energy)
print s.Homogeneity > 0 && s.Homogeneity < 1
[idx, C, total] = kmeans(g.x, 3, g.x[[0,25,50],:])
check("kmeans", C, g.centers)
check("idx", idx, g.labels)
[idx2, C2, total2] = kmeans(g.x, 3, null, 5)
print abs(total2 - total) < 1e-6*total, " ", numel(unique(idx2)), " ", kmeans([[1],[1],[1]], 2)[0] <= 1
check("pdist2", pdist2(g.x, g.x[0..6,:]), g.distances)
check("knnsearch", knnsearch(g.x, g.x[0..4,:] + 0.3, 3), g.nearest)
[coeff, score, latent] = pca(g.x)
check("pca", reshape(latent, [1,3]), g.latent)
check("score", score*transpose(coeff) + mean(g.x, 0), g.x)
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> deconvwnr(g.z, ones(50,1)))
attempt(() -> deconvwnr(g.z, g.psf, -1))
attempt(() -> deconvlucy(0-g.z, g.psf))
attempt(() -> denoise_tv(g.z, 0))
attempt(() -> nlmeans(g.z, 0))
attempt(() -> demosaic(ones(4,4)))
attempt(() -> demosaic(g.z, "rgbg"))
attempt(() -> phantom(8, "new"))
attempt(() -> graycomatrix([0,8]))
attempt(() -> graycoprops(zeros(2,2)))
attempt(() -> kmeans([[1],[2]], 3))
attempt(() -> kmeans([[1],[2]], 1, [[1,2]]))
attempt(() -> pdist2(ones(2,2), ones(2,3)))
attempt(() -> knnsearch(ones(2,2), ones(1,2), 3))
attempt(() -> pca([1,2]))
