% Filters that copy an image with a border before they read windows give the results of their definitions, in the middle
% and near borders, for windows larger than the image, too.
import "imlocal.q"
import "imrestore.q"
import "imthreshold.q"
near = (a, b) -> max(abs(a - b)) <= 1e-5*max(max(abs(b)), 1)

function y = window_at(f, x, r, mode)
    [rows, columns] = size(x, 0..1)
    framed = bound_extension(x, int(r[0]), int(r[1]), mode)
    y = zeros_like(x)
    for i = 0..rows-1
        for j = 0..columns-1
            y[i,j] = f(framed[i..i+2*r[0], j..j+2*r[1], 0])
        end
    end
end

function y = bilateral(v, level, sigma, r)
    k = float64(-r..r)
    w = exp(-(k.^2 + transpose(k).^2)/(2*sigma^2) - (v - v[r,r]).^2/(2*level^2))
    y = sum(w.*v)/sum(w)
end

function y = means(v, h, r, reach)
    n = 2*r
    middle = v[reach..reach+n, reach..reach+n]
    [total, weights] = {0, 0}
    for i = 0..2*reach
        for j = 0..2*reach
            w = exp(-mean((middle - v[i..i+n, j..j+n]).^2)/h^2)
            total += w*v[i+r,j+r]
            weights += w
        end
    end
    y = total/weights
end

rng(5)
x = rand(9,14)
print near(uniform_filter(x, [3,7]), window_at(v -> mean(v), x, [1,3], "mirror")), near(uniform_filter(x, [25,3]),
    window_at(v -> mean(v), x, [12,1], "mirror")), near(stdfilt(x, [3,5]), window_at(v -> std(reshape(v, [1,numel(v)])), x, [1,2], "mirror"))
print near(stdfilt(x, 21), window_at(v -> std(reshape(v, [1,numel(v)])), x, [10,10], "mirror"))
print near(imbilatfilt(x, 0.3, 1.5, 2), window_at(v -> bilateral(v, 0.3, 1.5, 2), x, [2,2], "mirror"))
print near(nlmeans(x, 0.2, 0, 1, 3), window_at(v -> means(v, 0.2, 1, 3), x, [4,4], "mirror"))
for mode = {"mirror", "reflect", "circular", "clamped", "zeros"}
    print near(threshold_local(x, [3,5], "mean", 0, mode), window_at(v -> mean(v), x, [1,2], mode))
end
% Sums of neighbours, and running sums of small images and of large windows
big = rand(50,70)
for r = {0, 1, 3, 4, 20, 100}
    print near(boxfilter(big, r), window_at(v -> sum(v), big, [r,r], "zeros"))
end
stack = rand(60,50,3)
print near(boxfilter(stack, 2)[:,:,1], boxfilter(stack[:,:,1], 2)), near(uniform_filter(stack, 5)[:,:,1], uniform_filter(stack[:,:,1], 5))
% Outside of the window of a pixel that is nan nothing is nan
big[5,6] = nan
print sum(isnan(boxfilter(big, 2))), sum(isnan(uniform_filter(big, 3)))
print size(uniform_filter(zeros(0,3), 3)), size(imbilatfilt(zeros(3,0), 1)), size(nlmeans(zeros(0,0), 1))
% Slopes agree with differences
x = float64(rand(8,9))
w = float64(rand(8,9))
step = float64(rand(8,9)) - 0.5
big = float64(rand(40,40))
losses = {v -> sum(uniform_filter(v, 3).*w), v -> sum(stdfilt(v, 3).*w), v -> sum(wiener2(v, 3, 0.01).*w),
    v -> sum(imbilatfilt(v, 0.3).*w), v -> sum(nlmeans(v, 0.3, 0, 1, 2).*w), v -> sum(boxfilter(v, 1).*w)}
for loss = losses
    print abs(sum(grad(loss, x).*step) - (loss(x + 1e-6*step) - loss(x - 1e-6*step))/2e-6) < 1e-6
end
print near(grad(v -> sum(boxfilter(v, 2).*big), big), boxfilter(big, 2))
