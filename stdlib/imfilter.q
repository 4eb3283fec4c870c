% Module: imfilter.q
% Linear filters of images.
import "check.q"
import "imboundary.q"

% 1: the result at p is the sum of mask[k]*img[p-(k-center)], a convolution; -1: of mask[k]*img[p+(k-center)], a
% correlation.
imfilter_direction = 1

% Computes the sum over the mask with its center on one position; x specifies the access mode at the border.
function s = __device__ imfilter_at(x, mask, center, pos : ivec3)
    s = 0.0
    for i = 0..size(mask,0)-1
        for j = 0..size(mask,1)-1
            s += mask[i,j]*x[pos[0]+i-center[0], pos[1]+j-center[1], pos[2]]
        end
    end
end

function [] = __kernel__ imfilter_mirror(y : cube'unchecked, x : cube'mirror, mask : mat'unchecked, center : ivec2, _
                                         pos : ivec3)
    y[pos] = imfilter_at(x, mask, center, pos)
end

function [] = __kernel__ imfilter_reflect(y : cube'unchecked, x : cube'reflect, mask : mat'unchecked, center : ivec2, _
                                          pos : ivec3)
    y[pos] = imfilter_at(x, mask, center, pos)
end

function [] = __kernel__ imfilter_circular(y : cube'unchecked, x : cube'circular, mask : mat'unchecked, center : ivec2, _
                                           pos : ivec3)
    y[pos] = imfilter_at(x, mask, center, pos)
end

function [] = __kernel__ imfilter_clamped(y : cube'unchecked, x : cube'clamped, mask : mat'unchecked, center : ivec2, _
                                          pos : ivec3)
    y[pos] = imfilter_at(x, mask, center, pos)
end

function [] = __kernel__ imfilter_zeros(y : cube'unchecked, x : cube'safe, mask : mat'unchecked, center : ivec2, _
                                        pos : ivec3)
    y[pos] = imfilter_at(x, mask, center, pos)
end

function [] = __kernel__ imfilter_inside(y : cube'unchecked, x : cube'unchecked, mask : mat'unchecked, center : ivec2, _
                                         pos : ivec3)
    y[pos] = imfilter_at(x, mask, center, pos)
end

% Returns the middle of the mask unless a center is given.
function c = mask_center(what, mask : mat, center)
    if isempty(center)
        c = [floor((size(mask,0)-1)/2), floor((size(mask,1)-1)/2)]
    else
        check_whole(strcat(what, ": center"), center, -inf, 2)
        c = center
    end
end

% Function: imfilter
% Filters every channel of an image with a mask, by convolution: with a mask turned by 180 degrees it is a correlation.
%
% Parameters:
% img - height x width or height x width x channels
% mask - the weights, a vec (a row) or a mat; on the processor, large ones use Fourier transforms where <conv2> does, with its errors
% center - [row, col] of the mask element that meets the pixel itself; [] is the middle, of an even number the one before it, as in scipy.signal (scipy.ndimage, conv and MATLAB: behind it)
% boundary - what lies outside: "mirror" (b a | a b c), "reflect" (c b | a b c), "circular", "clamped" or "zeros"
% more - options of MATLAB, imfilter(img, mask, "replicate", "conv"), take the position of center: "replicate",
%     "symmetric" or "circular" and "conv" or "corr", which is needed unless the mask is the same when it is turned
%
% Returns:
% an array of the size of img, float64 if img is, else scalar (integer images are converted first):
% y[p] = sum over k of mask[k]*img[p-(k-center)]
%
% See also: <gaussian_filter>
%
% :function y = imfilter(img : cube, mask : mat, center = [], boundary : string = "mirror", ...more)
function y = imfilter(img : cube, mask : mat, center = [], boundary : string = "mirror", ...more)
    if isstring(center)
        y = filter_by_names(img, mask, center, boundary == "mirror" ? {} : {boundary}, more)
    else
        check_no_more("imfilter", more)
        y = filter_image("imfilter", img, mask, center, boundary)
    endif
end

% imfilter with options as in MATLAB, imfilter(img, mask, "replicate", "conv"). Without "conv" and "corr", MATLAB
% correlates, so that only masks that are the same when they are turned by 180 degrees have one meaning.
function y = filter_by_names(img, mask, first, second, more)
    check_filled("imfilter: mask", mask)
    boundary = "zeros"
    turned = flipud(fliplr(mask))
    way = isequal(mask, turned) ? "corr" : ""
    for list = {{first}, second, more}
        for name = list
            match name with
            | "replicate" -> boundary = "clamped"
            | "symmetric" -> boundary = "mirror"
            | "circular" -> boundary = "circular"
            | "corr" | "conv" -> way = name
            | "same" -> way = way
            | _ -> error("imfilter: center must be [row, column], or a name replicate, symmetric, circular, corr or ",
                         "conv, got ", name)
            end
        end
    end
    assert(way != "", "imfilter: give ", first,
           " and ""conv"" or ""corr"": MATLAB correlates where it is not said, imfilter(img, mask) convolves")
    m = way == "conv" ? turned : mask
    y = correlate_folded("imfilter", img, m, int((size(mask, 0..1)-1)/2), boundary)
end

% Filters as imfilter; `what` is the function that error messages name.
function y = filter_image(what, img : cube, mask : mat, center, boundary)
    if isempty(mask)
        check_filled(strcat(what, ": mask"), mask)
    endif
    c = mask_center(what, mask, center)
    if imfilter_direction > 0
        mask = flipud(fliplr(mask))
        c = [size(mask,0)-1-c[0], size(mask,1)-1-c[1]]
    endif
    y = correlate_folded(what, img, mask, int(c), boundary)
end

% Correlates with a mask that is folded to the offsets at which the border differs, so that a mask may be much larger
% than the image.
function y = correlate_folded(what, img, mask, c, boundary)
    if size(mask,0) > size(img,0) || size(mask,1) > size(img,1)
        [mask, columns] = fold_columns(mask, c[1], size(img,1), boundary)
        [rows, down] = fold_columns(transpose(mask), c[0], size(img,0), boundary)
        [mask, c] = {transpose(rows), int([down, columns])}
    endif
    y = correlate_image(what, img, cast_like(mask, img), c, boundary)
end

% Adds the columns of a mask that meet the same pixel of every row of n pixels, if there are more than such offsets.
% Column c meets the pixel itself.
function [mask, c] = fold_columns(mask, c, n, boundary)
    [rows, count] = size(mask, 0..1)
    period = 0
    match boundary with
    | "mirror" -> period = 2*n
    | "reflect" | "mirror_nr" -> period = max(2*n - 2, 1)
    | "circular" -> period = n
    | _ -> period = 0
    end
    if n == 0 || count <= (period > 0 ? period : 2*n-1)
        return
    endif
    if period > 0 % offsets of one remainder meet one pixel: the sums begin at offset -middle
        middle = floor(period/2)
        front = period*ceil((c - middle)/period) + middle - c
        total = ceil((front + count)/period)
        w = horzcat(zeros_like(mask, rows, front), mask, zeros_like(mask, rows, total*period - front - count))
        mask = reshape(sum(reshape(w, [rows,total,period]), 1), [rows,period])
        c = middle
    else
        first = clamp(c - (n-1), 0, count-1) % these and the ones before it meet the first pixel, or none
        last = clamp(c + (n-1), 0, count-1)
        w = mask[:,first..last]
        if boundary == "clamped" && first == last
            w = sum(mask, 1)
        elseif boundary == "clamped"
            w = horzcat(sum(mask[:,0..first], 1), mask[:,first+1..last-1], sum(mask[:,last..count-1], 1))
        endif
        mask = w
        c = c - first
    endif
end

% The kernel that correlates with a boundary.
function kernel = boundary_kernel(what, boundary)
    kernel = imfilter_mirror
    match boundary with
    | "mirror" -> kernel = imfilter_mirror
    | "reflect" | "mirror_nr" -> kernel = imfilter_reflect
    | "circular" -> kernel = imfilter_circular
    | "clamped" -> kernel = imfilter_clamped
    | "zeros" -> kernel = imfilter_zeros
    | _ -> error("%s: boundary must be mirror, reflect, circular, clamped or zeros, got %s", what, boundary)
    end
end

{!adjoint correlate_rule}
function y = correlate_image(what, img, mask, c, boundary)
    y = correlate_at(img, mask, c, [size(img,0), size(img,1)], boundary_kernel(what, boundary))
    y = reshape(y, size(img))
end

% Returns dims[0] x dims[1] sums of mask[k]*x[p+k-c], for each channel; kernel has the access mode outside x.
function y = correlate_at(x, mask, c, dims, kernel)
    height = size(x,0) % a number costs less than a vector of sizes
    width = size(x,1)
    channels = size(x,2)
    rows = size(mask,0)
    columns = size(mask,1)
    y = uninit_like(x, dims[0], dims[1], channels)
    down = max(min(dims[0], height + c[0] - rows + 1) - max(c[0], 0), 0) % how many results no tap outside is part of
    right = max(min(dims[1], width + c[1] - columns + 1) - max(c[1], 0), 0)
    outside = numel(y) - down*right*channels
    % A tap outside costs as much as many inside, which are computed in vectors, so that it can pay to copy the image with
    % its border first. Many sums with large masks are faster by conv2, which uses Fourier transforms where they pay.
    large = numel(mask) >= 1024 && dims[0]*dims[1]*numel(mask) >= 2^25 && numel(x) > 0 && !runs_on_gpu()
    if large || 2*outside*numel(mask) > numel(y) + 6000
        framed = uninit_like(x, dims[0]+rows-1, dims[1]+columns-1, channels)
        parallel_do([dims[0]+rows-1, dims[1]+columns-1, channels], framed, x, [[1]], c, kernel)
        x = framed
        c = [0,0]
        kernel = imfilter_inside
    endif
    if large
        turned = flipud(fliplr(mask))
        for k = 0..channels-1
            y[:,:,k] = conv2(x[:,:,k], turned, "valid")
        end
    else
        parallel_do([dims[0], dims[1], channels], y, x, mask, c, kernel)
    endif
end

% Tests whether kernels run on a GPU: the transforms of conv2 run on the processor.
function yes = runs_on_gpu()
    yes = false
    for d in devices()
        yes = yes || d.current && d.kind != "cpu" && d.kind != "ref"
    end
end

% An image with rows and columns more on each side, for kernels that read windows: an element beside the border costs them
% as much as many inside.
function y = window_frame(what, x, rows, columns, boundary = "mirror")
    y = numel(x) > 0 ? uninit_like(x, size(x,0) + 2*rows, size(x,1) + 2*columns, size(x,2)) : x
    parallel_do(size(y, 0..2), y, x, [[1]], int([rows,columns]), boundary_kernel(what, boundary))
end

% The adjoint with respect to the image with its border is a correlation with the turned mask, and the border is then
% folded back; with respect to the mask it is a small correlation of the two images.
function [dw, dimg, dmask] = correlate_rule(what, img, mask, c, boundary, y, dy, wanted)
    [dw, dimg, dmask] = {null, null, null}
    s = int(size(mask,0..1))
    r = max(abs(c), abs(s-1-c))
    if wanted[1]
        d = correlate_at(dy, flipud(fliplr(mask)), int(s-1-c+r), int(size(img,0..1)+2*r), imfilter_zeros)
        dimg = bound_folded(d, img, r[0], r[1], boundary)
    end
    if wanted[2]
        x = bound_extension(img, r[0], r[1], boundary)
        d = zeros_like(dy, 2*r+1)
        for k = 0..size(img,2)-1
            d = d + conv2(x[:,:,k], flipud(fliplr(dy[:,:,k])), "valid")
        end
        from = r - c
        dmask = reshape(d[from[0]..from[0]+s[0]-1, from[1]..from[1]+s[1]-1], size(mask))
    end
end

% Function: gaussian_mask
% n samples of a Gaussian with standard deviation sigma around the middle, normalised to sum 1; n = 0: ±3 sigma.
function g = gaussian_mask(sigma : scalar, n : int = 0)
    check_least("gaussian_mask: sigma", sigma, 0)
    check_least("gaussian_mask: n", n, 0)
    g = cast_like(gaussian_weights(sigma, n), [])
end

function g = gaussian_weights(sigma, n)
    if n == 0
        n = 2*ceil(3*sigma) + 1
    endif
    k = float64(0..n-1) - (n-1)/2
    g = sigma > 0 ? exp(-0.5*(k./sigma).^2) : float(abs(k) < 1) % sigma 0: all weight is in the middle
    g = g/sum(g)
end

% Function: gaussian_filter
% Smooths an image with a Gaussian, rows and columns one after the other.
%
% Parameters:
% img - height x width or height x width x channels
% sigma - standard deviation in pixels, or [down, right]
% n - extent of the mask; 0 chooses ±3 sigma
% boundary - as for <imfilter>
function y = gaussian_filter(img : cube, sigma, n : int = 0, boundary : string = "mirror")
    assert(numel(sigma) == 1 || numel(sigma) == 2, "gaussian_filter: sigma must be one number or two, got ", _
           check_got(sigma))
    check_least("gaussian_filter: sigma", sigma, 0)
    check_least("gaussian_filter: n", n, 0)
    down = isscalar(sigma) ? sigma : sigma[0]
    right = isscalar(sigma) ? sigma : sigma[1]
    rows = filter_image("gaussian_filter", img, gaussian_weights(right, n), [], boundary)
    y = filter_image("gaussian_filter", rows, transpose(gaussian_weights(down, n)), [], boundary)
end

% Function: fspecial
% Masks of well-known filters, in float64, with the values of MATLAB. imfilter turns a mask by 180 degrees: the results
% of "sobel" and "prewitt" have the opposite sign of MATLAB's imfilter, which correlates. Source of "motion" and "disk":
% the shares of pixels that a line or a disk covers.
%
% Parameters:
% kind - "average" (a = [3,3]: height and width), "disk" (a = 5: radius), "gaussian" (a = [3,3], b = 0.5: standard
%     deviation), "laplacian" (a = 0.2: shape, 0 to 1), "log" (a = [5,5], b = 0.5: Laplacian of a Gaussian), "motion" (a
%     = 9: length, b = 0: degrees counter-clockwise), "prewitt" and "sobel" (derivatives down, bright above), "unsharp"
%     (a = 0.2)
% a, b - as described; null is the value given there
%
% Returns:
% h - the mask; smoothing masks have sum 1
%
% See also: <imfilter>
function h = fspecial(kind : string, a = null, b = null)
    match kind with
    | "average" ->
        s = fspecial_size(a, 3)
        h = ones_like(float64([0]), s[0], s[1])/prod(s)
    | "gaussian" -> h = fspecial_gaussian(fspecial_size(a, 3), fspecial_number(b, 0.5, "b", inf))
    | "log" ->
        s = fspecial_size(a, 5)
        v = fspecial_number(b, 0.5, "b", inf)^2
        [x, y] = meshgrid(float64(0..s[1]-1) - (s[1]-1)/2, float64(0..s[0]-1) - (s[0]-1)/2)
        h = fspecial_gaussian(s, sqrt(v)).*(x.^2 + y.^2 - 2*v)/v^2
        h = h - mean(h)
    | "laplacian" | "unsharp" ->
        shape = isnull(a) ? 0.2 : a
        assert(check_real(shape) && numel(shape) == 1 && all(shape >= 0 && shape <= 1), _
               "fspecial: a of ", kind, " must be 0 to 1, got ", check_got(shape))
        h = float64([[shape,1-shape,shape],[1-shape,-4,1-shape],[shape,1-shape,shape]])/(shape + 1)
        h = kind == "laplacian" ? h : float64([[0,0,0],[0,1,0],[0,0,0]]) - h
    | "prewitt" -> h = float64([[1,1,1],[0,0,0],[-1,-1,-1]])
    | "sobel" -> h = float64([[1,2,1],[0,0,0],[-1,-2,-1]])
    | "disk" ->
        r = fspecial_number(a, 5, "a", inf)
        n = ceil(r - 0.5)
        k = disk_quarter(float64(-n..n+1) - 0.5, r)
        h = k[1..2*n+1,1..2*n+1] - k[0..2*n,1..2*n+1] - k[1..2*n+1,0..2*n] + k[0..2*n,0..2*n]
        h = h/sum(h)
    | "motion" -> h = fspecial_motion(fspecial_number(a, 9, "a", inf), isnull(b) ? 0 : b)
    | _ -> error("fspecial: kind must be average, disk, gaussian, laplacian, log, motion, prewitt, sobel or unsharp, ",
                   "got ", kind)
    end
end

function s = fspecial_size(a, otherwise)
    s = isnull(a) ? [otherwise,otherwise] : numel(a) == 1 ? [a,a] : a
    check_whole("fspecial: a", s, 1, 2)
end

function x = fspecial_number(x, otherwise, name, most)
    x = isnull(x) ? otherwise : x
    assert(check_real(x) && numel(x) == 1 && all(x > 0 && x < most), _
           "fspecial: ", name, " must be a number greater than 0, got ", check_got(x))
end

function h = fspecial_gaussian(s, sigma)
    line = n -> exp(-(float64(0..n-1) - (n-1)/2).^2/(2*sigma^2))
    h = transpose(line(s[0])).*line(s[1])
    h = h < eps*max(h) ? 0 : h
    h = h/sum(h)
end

% The area of the part of a disk with 0 <= x <= t[j] and 0 <= y <= t[i], negative for one negative limit.
function area = disk_quarter(t, r)
    x = min(abs(t), r)
    y = transpose(x)
    below = u -> 0.5*(u.*sqrt(max(r^2 - u.^2, 0)) + r^2*asin(u/r))
    from = min(sqrt(max(r^2 - y.^2, 0)), x)
    area = sign(t).*transpose(sign(t)).*(y.*from + below(x) - below(from))
end

% One half of the line of motion, by the distances of pixels from it, then the other half by symmetry.
function h = fspecial_motion(length_, angle)
    check_finite("fspecial: b", angle)
    length_ = max(length_, 1)
    half = (length_-1)/2
    phi = mod(angle, 180)*pi/180
    [c, s] = {cos(phi), sin(phi)}
    across = c < 0 ? -1 : 1
    sx = trunc(half*c + across - length_*eps)
    sy = trunc(half*s + 1 - length_*eps)
    [x, y] = meshgrid(float64(0..across..sx), float64(0..sy))
    d = y*c - x*s
    last = sqrt(x.^2 + y.^2) >= half && abs(d) <= 1
    d = last ? sqrt(d.^2 + (half - abs((x + d*s)/c)).^2) : d
    d = max(1 + eps - abs(d), 0)
    [rows, columns] = size(d, 0..1)
    h = zeros_like(d, 2*rows-1, 2*columns-1)
    h[0..rows-1, 0..columns-1] = flipud(fliplr(d))
    h[rows-1..2*rows-2, columns-1..2*columns-2] = d
    h = h/(sum(h) + eps*length_^2)
    h = c > 0 ? flipud(h) : h
end

% Function: imgaussfilt
% Smooths an image with a Gaussian, as in MATLAB: the mask has 2*ceil(2*sigma)+1 pixels and pixels of the border are
% repeated. <gaussian_filter> has a wider mask and mirrors.
%
% Parameters:
% img - height x width or height x width x channels
% sigma - standard deviation in pixels, or [down, right], greater than 0
function y = imgaussfilt(img : cube, sigma = 0.5)
    s = numel(sigma) == 1 ? [sigma,sigma] : sigma
    assert(check_real(s) && numel(s) == 2 && all(s > 0 && s < inf),
           "imgaussfilt: sigma must be one number or two greater than 0, got ",
           check_got(sigma))
    y = img
    for dim = 0..1
        g = gaussian_weights(s[dim], 2*ceil(2*s[dim]) + 1)
        y = filter_image("imgaussfilt", y, dim == 0 ? transpose(g) : g, [], "clamped")
    end
end
