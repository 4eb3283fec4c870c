% float64 images keep their precision through every module of the library.
import "boxfilter.q"
import "colored_noise.q"
import "colortransform.q"
import "dtcwt.q"
import "fastguidedfilter.q"
import "imboundary.q"
import "imfilter.q"
import "immedfilt.q"
import "immorphology.q"
import "imresize.q"

function [] = check(name : string, x, wanted)
    error_of = max(abs(x - wanted))
    print name, ": ", type(x), error_of < 1e-12 ? "" : sprintf(", off by %g", error_of)
end

grey = float64(rand(16,16))/3 + 0.1
rgb = float64(rand(16,16,3))/3 + 0.1
middle = grey[1..14,1..14]
shifted = (i, j) -> grey[1+i..14+i, 1+j..14+j]
mask = float64([[1,2,3],[4,5,6],[7,8,10]]/46)
by_hand = zeros_like(middle)
for i = 0..2
    for j = 0..2
        by_hand += mask[i,j]*shifted(1-i, 1-j)
    end
end
check("imfilter", imfilter(grey, mask)[1..14,1..14], by_hand)
g = exp(-0.5*(float64(-1..1)/0.4).^2)
g = g/sum(g)
check("gaussian_filter", gaussian_filter(grey, 0.4, 3)[1..14,1..14], imfilter(imfilter(grey, g), transpose(g))[1..14,1..14])
check("boxfilter", boxfilter(grey, 1)[1..14,1..14], imfilter(grey, ones(3,3))[1..14,1..14])
ordered = float64(randperm(256))/3
ordered = reshape(ordered, [16,16])
check("immedfilt", immedfilt(ordered, 1)[1,1], sort(reshape(ordered[0..2,0..2], [1,9]))[4])
check("imerode", imerode(ordered)[1,1], min(ordered[0..2,0..2]))
check("imdilate", imdilate(ordered)[1,1], max(ordered[0..2,0..2]))
check("bound_extension zeros", bound_extension(grey, 1, 1, "zeros")[1..16,1..16], grey)
check("bound_extension mirror", bound_extension(grey, 1, 1)[1..16,1..16], grey)

ramp = ones_like(grey).*(float64(0..15)/7)
finer = float64(((4..27)+0.5)/2-0.5)/7
check("imresize bilinear", imresize(ramp, 2)[4,4..27], finer)
check("imresize bicubic", imresize(ramp, 2, "bicubic")[4,4..27], finer)
check("imresize nearest", imresize(grey, 2, "nearest")[0..2..31,1..2..31], grey)
check("fastguidedfilter", fastguidedfilter(ones_like(grey)/3, ones_like(grey)/7, 2, 0.01, 2), ones_like(grey)/7)

check("rgb2gray", rgb2gray(rgb), 0.299*rgb[:,:,0] + 0.587*rgb[:,:,1] + 0.114*rgb[:,:,2])
check("rgb2ycbcr", rgb2ycbcr(rgb)[:,:,0], rgb2gray(rgb))
check("rgb2xyz", xyz2rgb(rgb2xyz(rgb)), rgb)
check("csencodeSRGB", csdecodeSRGB(csencodeSRGB(rgb)), rgb)
check("rgb2hsv", hsv2rgb(rgb2hsv(rgb)), rgb)
check("rgb2lab", rgb2lab(rgb)[:,:,0], 116*rgb2xyz(csdecodeSRGB(rgb))[:,:,1].^(1/3)-16)
check("dwt2d", idwt2d(dwt2d(grey, filtercoeff_daub4, 2), filtercoeff_daub4), grey)
check("dtcwt2d", idtcwt2d(dtcwt2d(grey, J:=1)), grey)
check("generate_psd", generate_psd(mask, [16,16])[0,0], float64(1))

% Integer images are converted first.
print type(gaussian_filter(uint8(100*grey), 1)), " ", type(imresize(uint8(100*grey), 2))
