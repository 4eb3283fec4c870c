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

% Returns the middle of the mask unless a center is given.
function c = mask_center(what, mask : mat, center)
    c = int((size(mask,0..1)-1)/2)
    if !isempty(center)
        check_whole(strcat(what, ": center"), center, -inf, 2)
        c = int(center)
    end
end

% Function: imfilter
% Filters every channel of an image with a mask, by convolution: with a mask turned by 180 degrees it is a correlation.
%
% Parameters:
% img - height x width or height x width x channels
% mask - the weights, a vec (a row) or a mat
% center - [row, col] of the mask element that meets the pixel itself; [] is the middle, of an even number the one before it, as in scipy.signal (scipy.ndimage, conv and MATLAB: behind it)
% boundary - what lies outside: "mirror" (b a | a b c), "reflect" (c b | a b c), "circular", "clamped" or "zeros"
%
% Returns:
% an array of the size of img, float64 if img is, else scalar (integer images are converted first):
% y[p] = sum over k of mask[k]*img[p-(k-center)]
%
% See also: <gaussian_filter>
%
% :function y = imfilter(img : cube, mask : mat, center : vec = [], boundary : string = "mirror")
function y = imfilter(img : cube, mask : mat, center = [], boundary : string = "mirror")
    y = filter_image("imfilter", img, mask, center, boundary)
end

% Filters as imfilter; `what` is the function that error messages name.
function y = filter_image(what, img : cube, mask : mat, center, boundary)
    check_filled(strcat(what, ": mask"), mask)
    c = mask_center(what, mask, center)
    mask = cast_like(mask, img)
    if imfilter_direction > 0
        mask = flipud(fliplr(mask))
        c = int(size(mask,0..1))-1-c
    endif
    y = correlate_image(what, img, mask, c, boundary)
end

{!adjoint correlate_rule}
function y = correlate_image(what, img, mask, c, boundary)
    kernel = imfilter_mirror
    match boundary with
    | "mirror" -> kernel = imfilter_mirror
    | "reflect" | "mirror_nr" -> kernel = imfilter_reflect
    | "circular" -> kernel = imfilter_circular
    | "clamped" -> kernel = imfilter_clamped
    | "zeros" -> kernel = imfilter_zeros
    | _ -> error("%s: boundary must be mirror, reflect, circular, clamped or zeros, got %s", what, boundary)
    end
    y = uninit_like(img)
    parallel_do(size(img, 0..2), y, img, mask, c, kernel)
end

% The adjoint with respect to the image with its border is a correlation with the turned mask, and the border is then
% folded back; with respect to the mask it is a small correlation of the two images.
function [dw, dimg, dmask] = correlate_rule(what, img, mask, c, boundary, y, dy, wanted)
    [dw, dimg, dmask] = {null, null, null}
    s = int(size(mask,0..1))
    r = max(abs(c), abs(s-1-c))
    if wanted[1]
        d = uninit_like(dy, size(img,0)+2*r[0], size(img,1)+2*r[1], size(img,2))
        parallel_do(size(d, 0..2), d, dy, flipud(fliplr(mask)), int(s-1-c+r), imfilter_zeros)
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
