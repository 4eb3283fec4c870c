% Features, circles and superpixels agree with scikit-image: tests/goldens/make.py.
g = load("tests/goldens/features.npz")
z = g.z
function [] = check(name, got, wanted, tolerance = 1e-5)
    far = isequal(size(got), size(wanted)) ? max(abs(got - wanted)) : inf
    if !(far <= tolerance*max(max(abs(wanted)), 1e-3))
        print name, " is wrong: ", size(got), " ", size(wanted), " ", far
    endif
end
check("entropyfilt", entropyfilt(z, ones(7,5)), g.entropy)
for method = {"default","ror","uniform","var"}
    check(method, local_binary_pattern(z, 8, 1.5, method), getfield(g, method))
end
check("hog", hog(z, 9, [6,5], [2,3]), g.hog)
check("hog of colors", hog(g.rgb, 8, [8,8], [2,2], "L1-sqrt", true), g.hog_color)
check("hog L2", hog(z, 9, [8,8], [3,3], "L2"), g.l2)
check("hog L1", hog(z, 9, [8,8], [3,3], "L1"), g.l1)
[re, im] = gabor(z, 0.15, 0.6, 1.3)
check("gabor", re, g.re)
check("gabor", im, g.im)
check("gabor_kernel", gabor_kernel(0.2, 1, 1, 2, 3, 3, 0.4), g.kernel)
check("frangi", frangi(z, [1,2.5]), g.frangi)
check("frangi of bright lines", frangi(z, 2, 1, 8, false), g.bright)
check("hough_circle", hough_circle(g.edges, [3,6]), g.circles)
check("slic", slic(g.rgb, 20), g.slic)
check("slic of grey", slic(z, 12, 0.1), g.slic_grey)
check("slic of several pieces", slic(z, 25, 0.05, 10, 1, false), g.loose)
print round(1e12*entropyfilt([[0,255],[0,255]], ones(1,3))[0,0]), " ", entropyfilt(zeros(3,3))[1,1], " ", size(entropyfilt(zeros(0,3)))
[features, blocks] = hog(z)
print size(features), size(blocks), size(gabor_kernel(0.1))
[labels, count] = slic(z, 12, 0.1)
print count, " ", max(labels), " ", min(labels), " ", slic([[1,1],[1,1]], 9)

% Circles of known positions and radii.
[x, y] = meshgrid(float64(0..119), float64(0..99))
disk = (a, b, r) -> clamp(r + 0.5 - hypot(y - a, x - b), 0, 1)
img = 40 + 150*disk(30.3, 35.7, 17) + 120*disk(60, 85, 24.5)
[centers, radii, metric] = imfindcircles(img, [10,30])
[_, order] = sort(radii)
print max(abs(centers[order,:] - [[30.3,35.7],[60,85]])) < 0.1, max(abs(radii[order] -
                                                                        [17,24.5])) < 0.1, all(metric > 0.9)
[dark, radii] = imfindcircles(255 - img, [10,30], "dark")
print max(abs(dark - centers)) < 1e-9, size(imfindcircles(img, [10,30], "dark")), size(imfindcircles(img, [10,30],
                                                                                                     "bright", 0.5, 1))
print size(imfindcircles(zeros(20,20), [3,5])), size(imfindcircles(zeros(0,0), 3)), size(imfindcircles(img,
    24)), hough_circle([[0,0,0],[0,1,0],[0,0,0]], 1, false)

% Pieces of lines.
bw = zeros(60,80)
bw[10,5..70] = 1
bw[10,30..33] = 0
for i = 0..40
    bw[15+i,10+i] = 1
end
[H, theta, rho] = hough(bw)
p = houghpeaks(H, 2)
s = houghlines(bw, theta, rho, p)
print s.point1, s.point2, s.theta, s.rho
s = houghlines(bw, theta, rho, p, 3, 10)
print s.point1, s.point2, size(houghlines(bw, theta, rho, p, 3, 100).point1), size(houghlines(bw, theta, rho,
                                                                                              zeros(0,2)).theta)

function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> entropyfilt([1,300]))
attempt(() -> entropyfilt(z, ones(2,2)))
attempt(() -> local_binary_pattern(z, 40, 1))
attempt(() -> local_binary_pattern(z, 8, 0))
attempt(() -> local_binary_pattern(z, 8, 1, "nri"))
attempt(() -> hog(ones(10,10)))
attempt(() -> hog(z, 9, 8))
attempt(() -> hog(z, 9, [8,8], [2,2], "max"))
attempt(() -> gabor(4, 90))
attempt(() -> gabor(z, -1))
attempt(() -> frangi(z, 0))
attempt(() -> frangi([1,nan]))
attempt(() -> hough_circle(bw, 2.5))
attempt(() -> imfindcircles(img, [30,10]))
attempt(() -> imfindcircles(img, [10,30], "white"))
attempt(() -> imfindcircles(img, [10,30], "dark", 2))
attempt(() -> houghlines(bw, theta, rho, [[500,0]]))
attempt(() -> houghlines(bw, theta, rho, p, -1))
attempt(() -> slic(z, 0))
attempt(() -> slic(z, 4, 0))
attempt(() -> slic(zeros(0,0)))
