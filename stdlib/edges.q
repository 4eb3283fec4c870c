% Module: edges.q
% Derivatives of images and edges. Rows count downward and columns to the right; derivatives are per pixel. Outside of the
% image, pixels are mirrored (b a | a b c) unless another boundary of imfilter is given.
import "imfilter.q"
import "imanalysis.q"

% Function: gradient
% The derivatives of samples by central differences, at the ends by one-sided ones: across (to the right) first, then down,
% as in MATLAB (np.gradient gives them in the other order). For a vec there is one.
%
% Parameters:
% x - a vec or mat of at least 2 samples along each direction that is used
% h - the distance of neighbours; [right, down] for two
function [right, down] = gradient(x : mat, h = 1)
    assert(check_real(h) && (numel(h) == 1 || numel(h) == 2) && all(h != 0), _
           "gradient: h must be one number or two, not 0, got ", check_got(h))
    assert(size(x,1) > 1, "gradient: x must have at least 2 columns, got size ", size(x))
    steps = numel(h) == 1 ? [h,h] : h
    right = gradient_columns(x, steps[0])
    down = size(x,0) > 1 ? transpose(gradient_columns(transpose(x), steps[1])) : zeros_like(right)
end

function y = gradient_columns(x : mat, h)
    n = size(x,1)
    y = uninit_like(x)
    y[:,0] = (x[:,1] - x[:,0])/h
    y[:,n-1] = (x[:,n-1] - x[:,n-2])/h
    if n > 2
        y[:,1..n-2] = (x[:,2..n-1] - x[:,0..n-3])/(2*h)
    endif
end

% Function: laplace
% The sum of the second differences down and across, as scipy.ndimage.laplace; MATLAB's del2 is a quarter of it inside of
% the image.
function y = laplace(img : cube, boundary : string = "mirror")
    y = filter_image("laplace", img, [[0,1,0],[1,-4,1],[0,1,0]], [], boundary)
end

% The derivative along dim, smoothed by (side, middle, side) along the other dimension.
function y = edge_derivative(what, img : cube, dim, side, middle, boundary)
    smooth = [side, middle, side]
    across = float64(transpose(smooth))*float64([1,0,-1])
    if isnull(dim)
        right = filter_image(what, img, across, [], boundary)
        y = hypot(right, filter_image(what, img, transpose(across), [], boundary))
    else
        assert(dim == 0 || dim == 1, what, ": dim must be 0 (down), 1 (to the right) or null, got ", check_got(dim))
        y = filter_image(what, img, dim == 1 ? across : transpose(across), [], boundary)
    endif
end

% Function: sobel, prewitt, scharr
% Derivatives by a mask of 3 x 3 pixels: down (dim 0), to the right (dim 1), or without dim the length of the gradient. The
% weights are (-1, 0, 1) along dim; along the other dimension (1, 2, 1) for sobel, (1, 1, 1) for prewitt, as
% scipy.ndimage.sobel and prewitt, and (3, 10, 3) for scharr.
%
% Parameters:
% img - height x width or height x width x channels
% dim - 0, 1 or null
% boundary - as for imfilter
function y = sobel(img : cube, dim = null, boundary : string = "mirror")
    y = edge_derivative("sobel", img, dim, 1, 2, boundary)
end

function y = prewitt(img : cube, dim = null, boundary : string = "mirror")
    y = edge_derivative("prewitt", img, dim, 1, 1, boundary)
end

function y = scharr(img : cube, dim = null, boundary : string = "mirror")
    y = edge_derivative("scharr", img, dim, 3, 10, boundary)
end

% Function: imgradientxy
% The derivatives to the right and down by the mask of sobel (8 times the slope), prewitt (6 times) or by central
% differences.
function [right, down] = imgradientxy(img : cube, method : string = "sobel")
    match method with
    | "sobel" -> [side, middle] = [1,2]
    | "prewitt" -> [side, middle] = [1,1]
    | "central" -> [side, middle] = [0,0.5]
    | _ -> error("imgradientxy: method must be sobel, prewitt or central, got %s", method)
    end
    right = edge_derivative("imgradientxy", img, 1, side, middle, "clamped")
    down = edge_derivative("imgradientxy", img, 0, side, middle, "clamped")
end

% Function: gaussian_laplace
% The sum of the second derivatives of an image that a Gaussian has smoothed, as scipy.ndimage.gaussian_laplace. It is
% negative at bright spots whose radius is sqrt(2)*sigma.
%
% Parameters:
% img - height x width or height x width x channels
% sigma - standard deviation in pixels, greater than 0
% boundary - as for imfilter
function y = gaussian_laplace(img : cube, sigma : scalar, boundary : string = "mirror")
    assert(sigma > 0 && sigma < inf, "gaussian_laplace: sigma must be greater than 0 and finite, got ", sigma)
    r = floor(4*sigma + 0.5)
    k = float64(-r..r)
    g = exp(-0.5*(k/sigma).^2)
    g = g/sum(g)
    second = g.*(k.^2/sigma^4 - 1/sigma^2)
    filter = (x, mask) -> filter_image("gaussian_laplace", x, mask, [], boundary)
    y = filter(filter(img, second), transpose(g)) + filter(filter(img, g), transpose(second))
end

% Returns the largest magnitude that the derivative of a constant image of the magnitude of img may have by rounding; m has
% the type in which the derivatives are computed.
function e = edge_rounding(img, m)
    one = zeros_like(m, 1) + 1
    e = 64*(any(one + 2^-40 == one) ? 2^-23 : eps)*max(abs(img))
end

% Keeps pixels of at least low whose gradient is a local maximum along its direction; neighbours are interpolated.
% If neighbours differ by no more than `rounding`, the first one is kept.
function [] = __kernel__ canny_thin(y : mat'unchecked, m : mat'safe, down : mat'unchecked, right : mat'unchecked, _
                                    low : scalar, rounding : scalar, pos : ivec2)
    inside = pos[0] > 0 && pos[1] > 0 && pos[0] < size(m,0)-1 && pos[1] < size(m,1)-1
    v = m[pos]
    y[pos] = 0
    if inside && v >= low && v > 0
        a = abs(down[pos])
        b = abs(right[pos])
        same = down[pos]*right[pos] >= 0
        steep = a >= b
        w = steep ? b/a : a/b
        side = same ? 1 : -1
        p = steep ? [1,0] : [0,1]
        q = steep ? [1,side] : [side,1]
        before = (1-w)*m[pos-p] + w*m[pos-q]
        after = (1-w)*m[pos+p] + w*m[pos+q]
        y[pos] = before < v - rounding && after <= v + rounding ? v : 0.0
    endif
end

% Function: canny
% The edges of a grey image by the method of Canny: a Gaussian smooths, thin ridges of the gradient (by sobel, unnormalised)
% of at least `low` remain, and of these every connected piece (8 neighbours) with a pixel of at least `high`.
% Source: Canny: A computational approach to edge detection (1986); as skimage.feature.canny with mode="reflect", but a
% ridge of two equal pixels keeps only the first one.
%
% Parameters:
% img - a grey image
% low, high - thresholds of the length of the gradient, in grey values times 8 per pixel; null: high is the smallest value
%     with at most 30 % of the pixels above it and at least 1/64 of the largest one, low is 0.4*high, as in MATLAB. Both are
%     raised above the rounding of a constant image
% sigma - standard deviation of the Gaussian in pixels
%
% Returns:
% bw - a mat of bool, true on edges
% threshold - [low, high], as they were used
function [bw, threshold] = canny(img : mat, low = null, high = null, sigma : scalar = 1)
    check_least("canny: sigma", sigma, 0)
    check_filled("canny: img", img)
    check_finite("canny: img", img)
    smooth = sigma > 0 ? gaussian_filter(img, sigma, 2*floor(4*sigma + 0.5) + 1) : img
    right = sobel(smooth, 1)
    down = sobel(smooth, 0)
    m = hypot(right, down)
    if isnull(high)
        high = max(percentile(reshape(m, [1,-1]), 70), max(m)/64)
    endif
    if isnull(low)
        low = 0.4*high
    endif
    check_least("canny: low", low, 0)
    assert(high >= low, "canny: high must be at least low, ", low, ", got ", high)
    rounding = edge_rounding(img, m)
    low = max(low, rounding)
    high = max(high, rounding)
    threshold = [low,high]
    thin = uninit_like(m)
    parallel_do(size(m), thin, m, down, right, low, rounding, canny_thin)
    [labels, n] = bwlabel(thin)
    strong = bincount(reshape(labels.*(thin >= high), [1,-1]), n+1)
    strong[0] = 0
    bw = reshape(strong[int(reshape(labels, [1,-1]))] > 0, size(m))
end

% Pixels where the squared gradient g exceeds the threshold and is a maximum across the edge, as MATLAB's edge.
function [] = __kernel__ edge_thin(bw : mat[bool]'unchecked, g : mat'safe, right : mat'unchecked, down : mat'unchecked, _
                                   threshold : scalar, pos : ivec2)
    v = g[pos]
    a = abs(right[pos])
    b = abs(down[pos])
    across = a >= b && g[pos-[0,1]] <= v && v > g[pos+[0,1]]
    along = b >= a && g[pos-[1,0]] <= v && v > g[pos+[1,0]]
    bw[pos] = v > threshold && (across || along)
end

% Pixels next to which x changes its sign by more than the threshold; the negative or smaller side is marked.
function [] = __kernel__ edge_crossings(bw : mat[bool]'unchecked, x : mat'clamped, threshold : scalar, pos : ivec2)
    v = x[pos]
    bw[pos] = v < 0 && (x[pos+[0,1]] >= 0 && x[pos+[0,1]] - v > threshold || x[pos-[0,1]] >= 0 && x[pos-[0,1]] - v > threshold || _
              x[pos+[1,0]] >= 0 && x[pos+[1,0]] - v > threshold || x[pos-[1,0]] >= 0 && x[pos-[1,0]] - v > threshold)
end

% Function: edge
% The edges of a grey image, as a mask.
%
% Parameters:
% img - a grey image
% method - "sobel", "prewitt" (maxima of the gradient), "log" (zero crossings of gaussian_laplace) or "canny"
% threshold - [] chooses one; for canny [low, high], or high with low = 0.4*high
% sigma - of "log" (2) and "canny" (sqrt(2)); null is the number in brackets
%
% Returns:
% bw - a mat of bool
% threshold - the one that was used; [low, high] for canny. For sobel and prewitt it applies to the length of the gradient per pixel
%
% See also: <canny>, <sobel>
function [bw, threshold] = edge(img : mat, method : string = "sobel", threshold = [], sigma = null)
    if !isempty(threshold)
        check_least("edge: threshold", threshold, 0)
        most = method == "canny" ? 2 : 1
        assert(numel(threshold) <= most, "edge: threshold must be ", most == 1 ? "one number" : "[low, high] or high", _
               ", got ", threshold)
    endif
    if !isnull(sigma)
        assert(sigma > 0, "edge: sigma must be greater than 0, got ", sigma)
    endif
    check_filled("edge: img", img)
    check_finite("edge: img", img)
    threshold = isempty(threshold) ? [] : float64(reshape(threshold, [1,numel(threshold)]))
    bw = mat[bool](size(img, 0..1))
    match method with
    | "sobel" | "prewitt" ->
        [right, down] = imgradientxy(img, method)
        scale = method == "sobel" ? 8 : 6
        right = right/scale
        down = down/scale
        g = right.^2 + down.^2
        threshold = isempty(threshold) ? max(2*sqrt(mean(g)), edge_rounding(img, g)) : threshold[0]
        parallel_do(size(img, 0..1), bw, g, right, down, threshold^2, edge_thin)
    | "log" ->
        x = gaussian_laplace(img, isnull(sigma) ? 2 : sigma, "clamped")
        threshold = isempty(threshold) ? max(0.75*mean(abs(x)), edge_rounding(img, x)) : threshold[0]
        parallel_do(size(img, 0..1), bw, x, threshold, edge_crossings)
    | "canny" ->
        high = isempty(threshold) ? null : threshold[numel(threshold)-1]
        [bw, threshold] = canny(img, numel(threshold) == 2 ? threshold[0] : null, high, isnull(sigma) ? sqrt(2) : sigma)
    | _ ->
        error("edge: method must be sobel, prewitt, log or canny, got %s", method)
    end
end
