import "boxfilter.q"
import "colored_noise.q"
import "colortransform.q"
import "dct.q"
import "dtcwt.q"
import "fastguidedfilter.q"
import "imanalysis.q"
import "imboundary.q"
import "immedfilt.q"
import "immorphology.q"
import "multirestransforms.q"
import "radon.q"
import "signal.q"
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
% imfilter.q
attempt(() -> gaussian_filter([1,2,3], -1))
attempt(() -> gaussian_filter([1,2,3], nan))
attempt(() -> gaussian_filter([1,2,3], [1,inf]))
attempt(() -> gaussian_filter([1,2,3], [1,2,3]))
attempt(() -> gaussian_filter([1,2,3], "1"))
attempt(() -> gaussian_filter([1,2,3], 1, -3))
attempt(() -> gaussian_mask(-1))
attempt(() -> gaussian_mask(1, -3))
attempt(() -> imfilter([1,2,3], zeros(0,0)))
attempt(() -> imfilter([1,2,3], [1,1], [0,0,0]))
attempt(() -> imfilter([1,2,3], [1,1], 1))
attempt(() -> imfilter([1,2,3], [1,1], [0,0.5]))
print imfilter([1,2,3], [1,1], [0,-1], "zeros"), " ", gaussian_filter([1,2,3], [0,0])
% boxfilter.q, immedfilt.q, immorphology.q, imboundary.q
attempt(() -> boxfilter([1,2,3], -1))
attempt(() -> immedfilt([1,2,3], -1))
attempt(() -> imerode([1,2,3], zeros(0,0)))
attempt(() -> imdilate([1,2,3], ones(3,3), [1,3]))
attempt(() -> imopen([1,2,3], ones(3,3), [-1,0]))
attempt(() -> imclose([1,2,3], ones(3,3), 1))
attempt(() -> bound_extension([1,2,3], -1, 0))
attempt(() -> bound_extension([1,2,3], 0, -1, "zeros"))
attempt(() -> bound_extension(zeros(0,3), 1, 1))
attempt(() -> boundary_index(3, 0.5, "mirror"))
% imresize.q
attempt(() -> imresize(ones(4,4), 0))
attempt(() -> imresize(ones(4,4), -2))
attempt(() -> imresize(ones(4,4), nan))
attempt(() -> imresize(ones(4,4), inf))
attempt(() -> imresize(ones(4,4), [3,nan]))
attempt(() -> imresize(ones(4,4), [3,3,3]))
attempt(() -> imresize(ones(4,4), "2"))
attempt(() -> imresize(ones(4,4), 2, "cubics"))
attempt(() -> imresize(zeros(0,4), 2))
% fastguidedfilter.q
attempt(() -> fastguidedfilter(ones(3,3), ones(4,4), 1, 0.1))
attempt(() -> fastguidedfilter(ones(3,3), ones(3,3), -1, 0.1))
attempt(() -> fastguidedfilter(ones(3,3), ones(3,3), 1, -0.1))
attempt(() -> fastguidedfilter(ones(3,3), ones(3,3), 1, 0.1, 0))
% colortransform.q
for f = {rgb2gray, rgb2ycbcr, ycbcr2rgb, rgb2xyz, xyz2rgb, rgb2lab, lab2rgb, rgb2hsv, hsv2rgb}
    for n = [1,2,4]
        attempt(() -> f(ones(2,2,n)))
    end
end
% imanalysis.q
print bwdist(zeros(3,4)), " ", min(bwdist(zeros(200,300)))
print graythresh(ones(3,3)), " ", graythresh([-3,-3]), " ", graythresh([5,5,9], 1)
attempt(() -> graythresh(zeros(0,0)))
attempt(() -> graythresh([nan,nan]))
attempt(() -> graythresh([1,2], 0))
attempt(() -> bwlabel([1,2], 6))
attempt(() -> psnr([1,2], [1]))
attempt(() -> ssim(ones(2,2), ones(2,3)))
% colored_noise.q, dct.q, radon.q, signal.q
attempt(() -> generate_psd(ones(3,3), [2,4]))
attempt(() -> generate_psd([4], psd_ct_ramp_spectrum_noise))
attempt(() -> cgn_rand([4], ones(4,4)))
attempt(() -> dct1([1,2], 2))
attempt(() -> idct1([1,2], -1))
attempt(() -> iradon(ones(5,3), [0,90]))
attempt(() -> iradon(ones(5,2), [0,90], 2.5))
attempt(() -> iradon(zeros(0,2), [0,90]))
attempt(() -> hann(-1))
attempt(() -> filter([1,2], [0,1], [1,2]))
attempt(() -> spectrogram([1,2,3], 4))
attempt(() -> spectrogram([1,2,3], 2, 1.5))
attempt(() -> spectrogram([1,2,3], 2, 1, [1,2,3]))
print size(generate_psd(ones(3,3), [4,6,3])), " ", size(generate_psd([4,6,3], psd_ct_ramp_spectrum_noise))
% dwt.q, dtcwt.q, multirestransforms.q
attempt(() -> dwt2d(ones(4,4), filtercoeff_haar, -1))
attempt(() -> dwt2d(ones(4,6), filtercoeff_haar, 2))
attempt(() -> dtcwt2d(ones(4,6), filtercoeff_farras, filtercoeff_dualfilt, 2))
attempt(() -> dtcwt3d_untiled(ones(4,4,2), filtercoeff_farras, filtercoeff_dualfilt, 2))
attempt(() -> dtcwt2d(ones(4,4), {[1,2]}, filtercoeff_dualfilt, 1))
attempt(() -> complex_orthogonal_wavelet([1,2]))
attempt(() -> build_stp([8.5,8]))
attempt(() -> build_stp([16,16], 0, 2))
attempt(() -> build_stp([16,12], 2, 2))
attempt(() -> build_energyweighted_dst2d([8,8], 1))
function [] = of_another_size()
    [S, S_H] = build_stp([16,16], 2, 2)
    [T, T_H] = build_energyweighted_dst2d([16,16], 2, 1)
    attempt(() -> S(ones(8,8)))
    attempt(() -> T(ones(8,8)))
end
of_another_size()
