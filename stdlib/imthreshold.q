% Module: imthreshold.q
% Thresholds of grey images, and masks, classes and histograms. Grey values are 0 to 255 unless another white is given.
import "imanalysis.q"
import "imlocal.q"
import "system.q"

% Function: multithresh
% Thresholds that cut the histogram of an image into n+1 classes with the largest variance between them, the method of
% Otsu for several classes. One threshold is that of <graythresh>. For values above a threshold, see <imquantize>.
% Source: Liao, Chen, Chung: A fast algorithm for multilevel thresholding (2001).
%
% Parameters:
% x - a grey image
% n - how many thresholds
% bins - how many bins the histogram has, more than n; skimage.filters.threshold_multiotsu returns middles of bins
%
% Returns:
% t - the thresholds as grey values of x, from small to large
function t = multithresh(x : cube, n : int = 1, bins : int = 256)
    assert(any(!isnan(x)), "multithresh: x must have elements that are numbers, got size ", size(x), _
           numel(x) > 0 ? ", all nan" : "")
    check_whole("multithresh: n", n, 1)
    check_whole("multithresh: bins", bins, n + 1)
    [counts, edges] = histogram(float64(finite_part(x)), bins)
    filled = find_positions(counts)
    assert(numel(filled) > n, "multithresh: x must have at least ", n + 1, " different values for ", n, _
           n == 1 ? " threshold, got " : " thresholds, got ", numel(filled))
    m = numel(filled)
    w = float64(counts[filled])
    v = float64(filled) + 0.5
    last = mat[int](n+1, m)
    class_cuts(horzcat(float64([0]), cumsum(w)), horzcat(float64([0]), cumsum(w.*v)), last)
    t = float64(zeros(n))
    to = m
    for k = n..-1..1
        to = last[k,to-1]
        t[k-1] = (edges[filled[to-1]+1] + edges[filled[to]])/2 % the middle of a gap of the histogram
    end
end

% The positions of the elements of a row that are not 0.
function k = find_positions(x)
    k = transpose(find(x)[:,1])
end

% last[k,j]: where the last of k+1 classes of the first j+1 bins begins, for the largest sum of S^2/W over the classes,
% W and S being the sums of weights and of weighted values.
function [] = class_cuts(w : vec[float64], s : vec[float64], last : mat[int])
    [classes, m] = size(last, 0..1)
    best = s.^2./max(w, 1)
    for k = 1..classes-1
        better = zeros_like(best)
        for j = k..m-1
            most = -1.0
            for i = k..j
                value = best[i] + (s[j+1]-s[i])^2/(w[j+1]-w[i])
                if value > most
                    most = value
                    last[k,j] = i
                endif
            end
            better[j+1] = most
        end
        best = better
    end
end

% Function: imquantize
% The class of each pixel between levels, from 1 on as in <bwlabel>: 1 up to levels[0], 2 above it up to levels[1] …, as
% MATLAB's imquantize; or the values of these classes. np.digitize(x, levels, right=True) counts from 0.
%
% Parameters:
% x - an array
% levels - n limits, increasing, e.g. from <multithresh>
% values - n+1 values for the classes; null is 1 … n+1
function y = imquantize(x : cube, levels, values = null)
    check_finite("imquantize: levels", levels)
    check_filled("imquantize: levels", levels)
    n = numel(levels)
    limits = float64(reshape(levels, [1,n]))
    assert(all(limits[1..n-1] > limits[0..n-2]), "imquantize: levels must increase, got ", levels)
    k = zeros_like(float64(x))
    for i = 0..n-1
        k += x > limits[i] ? 1 : 0
    end
    y = k + 1
    if !isnull(values)
        assert(numel(values) == n+1, "imquantize: values must have one element more than levels, ", n+1, ", got ",
               numel(values))
        y = reshape(reshape(values, [1,n+1])[int(reshape(k, [1,numel(k)]))], size(x))
    endif
end

% Function: imbinarize
% A mask of the pixels that are brighter than a level.
%
% Parameters:
% x - a grey image
% level - a grey value of x (not a fraction of white, as for integers in MATLAB) or one per pixel; null or "global" is
%     <graythresh>(x), "adaptive" is <adaptthresh>(x)
% sensitivity - of "adaptive", 0 to 1
% more - pairs of MATLAB for "adaptive", "Sensitivity", 0.4 and "ForegroundPolarity", "dark", take the position of
%     sensitivity
function bw = imbinarize(x, level = null, sensitivity = 0.5, ...more)
    polarity = "bright"
    if isstring(sensitivity)
        [sensitivity, polarity] = named_values("imbinarize", {"Sensitivity", "ForegroundPolarity"}, sensitivity,
                                               ...more)
        [sensitivity, polarity] = {isnull(sensitivity) ? 0.5 : sensitivity, isnull(polarity) ? "bright" : polarity}
    else
        check_no_more("imbinarize", more)
    endif
    assert(isnumeric(x) && isreal(x) && ndims(x) <= 2, "imbinarize: x must be a grey image, got ", type(x), _
           isnumeric(x) && ndims(x) > 2 ? "; rgb2gray(x) is one" : "")
    if isnull(level)
        level = "global"
    endif
    if isstring(level)
        assert(level == "global" || level == "adaptive",
               "imbinarize: level must be a number, global or adaptive, got ", level)
        level = level == "global" ? graythresh(x) : adaptthresh(x, sensitivity, polarity)
    else
        assert(check_real(level) && (numel(level) == 1 || isequal(size(level), size(x))), _
               "imbinarize: level must be a number or have the size of x, ", size(x), ", got ",
               isnumeric(level) ? size(level) : type(level))
        if isint(x) && numel(level) == 1 && level > 0 && level < 1
            error("imbinarize: level is a grey value of x, not a fraction of white: write ", check_got(level), "*",
                  maxvalue(type(x)))
        endif
    endif
    bw = x > level
end

% Function: imhist
% The histogram of an image with bins around n equally spaced grey values from black to white; values beyond count in
% the first or last bin.
%
% Parameters:
% x - an image
% n - how many bins; null is 256
% range - [black, white]; null is [0,255], for integers of another type their smallest and largest value
%
% Returns:
% counts - how many pixels each bin has
% at - the grey values
function [counts, at] = imhist(x, n = null, range = null)
    assert(check_real(x), "imhist: x must be an image of real numbers, got ", type(x))
    n = isnull(n) ? 256 : n
    check_whole("imhist: n", n, 2)
    check_filled("imhist: x", x)
    if isnull(range)
        assert(isint(x) || max(x) > 1 || all(x == floor(x)),
               "imhist: x has values of at most 1; write imhist(x, n, [0,1])")
        range = isint(x) ? [minvalue(type(x)), maxvalue(type(x))] : [0,255]
    endif
    assert(check_real(range) && numel(range) == 2 && range[0] < range[1], _
           "imhist: range must be [black, white], got ", check_got(range))
    [black, white] = {float64(range[0]), float64(range[1])}
    v = float64(reshape(x, [1,numel(x)]))
    v = v[!isnan(v)]
    at = black + float64(0..n-1)*((white - black)/(n-1))
    counts = bincount(int(clamp(round((v - black)/(white - black)*(n-1)), 0, n-1)), n)
end

% Function: threshold_local
% A threshold for each pixel from the window around it, as skimage.filters.threshold_local.
%
% Parameters:
% x - a grey image
% s - extent of the window, odd: one number or [rows, columns]
% method - "gaussian" (standard deviation (s-1)/6), "mean" or "median"
% offset - is subtracted
% boundary - as for <imfilter>; "median" mirrors
function t = threshold_local(x : mat, s = 3, method : string = "gaussian", offset : scalar = 0,
                             boundary : string = "mirror")
    s = numel(s) == 1 ? [s,s] : s
    check_whole("threshold_local: s", s, 1, 2)
    assert(all(mod(s, 2) == 1), "threshold_local: s must be odd, got ", s)
    match method with
    | "gaussian" ->
        t = x
        for dim = 0..1
            sigma = (s[dim]-1)/6
            g = gaussian_weights(sigma, 2*floor(4*sigma + 0.5) + 1)
            t = filter_image("threshold_local", t, dim == 0 ? transpose(g) : g, [], boundary)
        end
    | "mean" -> t = window_mean("threshold_local", x, int((s-1)/2), boundary)
    | "median" ->
        assert(boundary == "mirror", "threshold_local: boundary of median must be mirror, got ", boundary)
        t = ordfilt2(x, (prod(s)-1)/2, ones(s[0], s[1]))
    | _ -> error("threshold_local: method must be gaussian, mean or median, got ", method)
    end
    t = t - offset
end

% Function: adaptthresh
% A threshold for each pixel, which follows the brightness of the background: the mean of its window times
% 1.6-sensitivity. For <imbinarize>. Source: Bradley, Roth: Adaptive thresholding using the integral image (2007).
%
% Parameters:
% x - a grey image of values 0 to peak
% sensitivity - 0 to 1; more takes more pixels for foreground
% polarity - "bright" or "dark": what the foreground is
% s - extent of the window, odd: one number or [rows, columns]; null is 2*floor(size(x)/16)+1
% statistic - "mean", "median" or "gaussian", as for <threshold_local>, with the pixels of the border repeated
%     ("median": mirrored)
% peak - white
% more - pairs of MATLAB, "ForegroundPolarity", "dark", "NeighborhoodSize", 15 and "Statistic", "gaussian", take the
%     position of polarity
function t = adaptthresh(x : mat, sensitivity : scalar = 0.5, polarity = "bright", s = null, _
                         statistic = "mean", peak = 255, ...more)
    if isstring(polarity) && polarity != "bright" && polarity != "dark" && !isnull(s)
        if numel(more) == 0 && isequal(peak, 255)
            [statistic, peak] = {isequal(statistic, "mean") ? null : statistic, null}
        endif
        [polarity, s, statistic] = named_values("adaptthresh", {"ForegroundPolarity","NeighborhoodSize","Statistic"},
                                                polarity, s,
                                                statistic, peak, ...more)
        [polarity, statistic] = {isnull(polarity) ? "bright" : polarity, isnull(statistic) ? "mean" : statistic}
        peak = 255
    else
        check_no_more("adaptthresh", more)
    endif
    assert(sensitivity >= 0 && sensitivity <= 1, "adaptthresh: sensitivity must be 0 to 1, got ", sensitivity)
    assert(polarity == "bright" || polarity == "dark", "adaptthresh: polarity must be bright or dark, got ", polarity)
    s = isnull(s) ? 2*floor(size(x, 0..1)/16) + 1 : s
    around = y -> threshold_local(y, s, statistic, 0, statistic == "median" ? "mirror" : "clamped")
    assert(polarity == "bright" || peak != 255 || !any(x > 0 && x < 1), _
           "adaptthresh: x has values between 0 and 1; give peak, white, as the last argument")
    t = polarity == "bright" ? (1.6 - sensitivity)*around(x) : peak - (1.6 - sensitivity)*around(peak - x)
    t = clamp(t, 0, peak)
end
