% Filters of large images with masks of 1024 elements and more use Fourier transforms, where conv2 does: compared with
% the sum of the filters with small parts of the mask, which are applied directly.
% devices: cpu
import "imfilter.q"
function y = by_parts(x, m, c, mode)
    y = zeros_like(float64(x))
    for j = 0..30..size(m,1)-1
        last = min(j + 29, size(m,1) - 1)
        for i = 0..30..size(m,0)-1
            below = min(i + 29, size(m,0) - 1)
            y = y + correlate_image("", float64(x), float64(m[i..below,j..last]), int(c - [i,j]), mode)
        end
    end
end
function d = apart(x, m, c, mode)
    t = flipud(fliplr(m))
    d = max(abs(imfilter(x, m, c, mode) - by_parts(x, t, size(m,0..1) - 1 - c, mode)))
end

for wide = [false,true]
    worst = 0
    for dims = {[180,190], [80,81,3]}
        for k = {[33,33], [32,40], [90,95], [200,33]}
            x = mod(reshape((0..prod(dims)-1).^2.*7, dims), 251)/251
            m = cos(reshape(float64(0..prod(k)-1), k).*1.7)/sqrt(prod(k))
            x = wide ? float64(x) : x
            for mode = {"mirror", "reflect", "circular", "clamped", "zeros"}
                worst = max([worst, apart(x, m, floor((k-1)/2), mode), apart(x, m, [k[0]+2,-3], mode)])
            end
        end
    end
    print worst < (wide ? 1e-11 : 1e-4)
end

% A correlation, and the types of images
x = reshape(mod((0..200*180-1)*7919, 251), [200,180])
m = reshape(mod(float64(0..33*34-1), 7), [33,34])
c = int([16,16])
y = imfilter(x, m, "symmetric", "corr")
print isequal(y, by_parts(x, m, c, "mirror")), " ", type(y) == type(x)
print isequal(imfilter(uint8(x), m, "circular", "conv"), by_parts(x, flipud(fliplr(m)), c, "circular"))
print type(imfilter(float64(x), m)) == type(float64(x)), " ", size(imfilter(x[0,:], ones(1,1200))), " ", size(imfilter(zeros(0,5), m))

% A number that is not finite reaches the pixels around it, and no other.
x[3,3] = nan
x[190,179] = inf
print sum(isnan(imfilter(x, ones(33,33)))), " ", sum(imfilter(x, ones(33,33)) == inf)

% The slopes: with weights w, the sum of w.*y is linear in the image and in the mask.
w = sin(reshape(float64(0..180*181-1), [180,181]))
x = cos(reshape(float64(0..180*181-1), [180,181]).*1.3)
m = reshape(float64(0..33*33-1), [33,33])/1000
for mode = {"mirror", "clamped", "zeros"}
    [dx, dm] = grad((x, m) -> sum(w.*imfilter(x, m, [], mode)), x, m)
    s = sum(w.*imfilter(x, m, [], mode))
    print abs(sum(dx.*x) - s) < 1e-8, " ", abs(sum(dm.*m) - s) < 1e-8
end
