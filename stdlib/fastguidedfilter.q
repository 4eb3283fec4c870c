% Module: fastguidedfilter.q
% The fast guided filter.  Source: He, Sun: Fast guided filter, arXiv:1505.00996 (2015).
import "boxfilter.q"
import "imresize.q"

% Function: fastguidedfilter
% Smooths p while keeping the edges of a grey guide.
%
% Parameters:
% guide - the guide image, height x width
% p - the image to filter, height x width
% r - radius of the window
% eps2 - what counts as flat: variances well below are smoothed (0.1^2 for images in [0,1])
% s - the coefficients are computed at 1/s of the resolution; r/s should be 1 or more
function q = fastguidedfilter(guide : mat, p : mat, r : int, eps2 : scalar, s : scalar = 4)
    check_alike("fastguidedfilter: guide and p", guide, p)
    check_least("fastguidedfilter: r", r, 0)
    check_least("fastguidedfilter: eps2", eps2, 0)
    check_least("fastguidedfilter: s", s, 1)
    small_guide = imresize(guide, 1/s, "nearest")
    small_p = imresize(p, 1/s, "nearest")
    radius = max(1, round(r/s))
    count = boxfilter(ones(size(small_guide)), radius)
    box_mean = x -> boxfilter(x, radius)./count

    mean_guide = box_mean(small_guide)
    mean_p = box_mean(small_p)
    covariance = box_mean(small_guide.*small_p) - mean_guide.*mean_p
    variance = box_mean(small_guide.^2) - mean_guide.^2
    a = covariance./(variance + eps2)
    b = mean_p - a.*mean_guide

    full = size(guide, 0..1)
    q = imresize(box_mean(a), full, "bilinear").*guide + imresize(box_mean(b), full, "bilinear")
end
