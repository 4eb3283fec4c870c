% Functions warn once, at the line of the script, about images whose values do not fit, and are quiet if a scale is given.
import "imanalysis.q"
import "imcontrast.q"
import "imrestore.q"
import "imoverlay.q"
import "colortransform.q"
unit = reshape(float(0..399)/400, [20,20])
color = reshape(float(0..299)/300, [10,10,3])
bytes = round(255*unit)
dark = unit > 0.9
for k = 1..2
    print round(psnr(unit, 1 - unit))
end
print ssim(unit, 1 - unit) < 1
print size(adapthisteq(unit)), size(denoise_tv(unit)), size(nlmeans(unit))
print size(imoverlay(unit, dark))
print max(rgb2lab(255*color)) > 1000
print max(rgb2hsv(255*float64(color))) > 1, size(rgb2xyz(255*color)), size(hsv2rgb(255*color))
print "quiet"
print round(psnr(bytes, 255 - bytes)), round(psnr(unit, 1 - unit, 1)), round(psnr(unit, 1 - unit, 255)), psnr(zeros(2,2), ones(2,2)) > 48
print ssim(unit, unit, 1), size(adapthisteq(unit, 2, [8,8], [0,1]))
print size(denoise_tv(unit, 0.1)), size(nlmeans(unit, 0.1)), size(imoverlay(unit, dark, "yellow", 1))
print max(rgb2lab(color)) < 100, size(rgb2xyz(8*color)), size(rgb2hsv(uint8(ones(2,2,3))))
% The built-in that the library calls.
check_scale("f: x", unit, 255)
check_scale("f: x", 255*unit, 1)
check_scale("f: x", unit, 1)
check_scale("f: x", {}, 255)
% Noise around an image in [0,1] changes nothing.
print psnr(unit, unit*1.2 - 0.1) > 0
