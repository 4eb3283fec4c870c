% Module: immorphology.q
% Morphology of grey and binary images.  A mask is a set of positions: its elements that are not 0.
import "imfilter.q" % programs rely on this import
import "windows.q"

% Computes the smallest x + mask around every position, ignoring nan in x and in the mask: min prefers the other
% argument.  x has a border of nan, so that positions need no test.
function [] = __kernel__ immorph(y : cube'unchecked, x : cube'unchecked, mask : mat'unchecked, itself : cube'unchecked, _
                                 pos : ivec3)
    best = mask[0,0] + x[pos]
    for i = 0..size(mask,0)-1
        for j = 0..size(mask,1)-1
            best = min(best, mask[i,j] + x[pos[0]+i,pos[1]+j,pos[2]])
        end
    end
    y[pos] = isnan(best) ? itself[pos] : best
end

% Erosion, or dilation unless `erode`; window: [above, below; left, right], how far the mask reaches from the pixel.
function y = immorph_extreme(img, mask : mat, window, erode)
    if all(mask != 0)                          % a rectangle
        y = erode ? movmin(img, window) : movmax(img, window)
    elseif erode
        y = cast_like(immorph_erode(immorph_float(img), mask, [window[0,0], window[1,0]]), img)
    else                                       % 0 - x avoids -0
        x = 0 - immorph_float(img)
        y = cast_like(0 - immorph_erode(x, flip(flip(mask, 0), 1), [window[0,0], window[1,0]]), img)
    end
end

% The image in a type that holds its integers: float32 up to 2^24, then float64.
function x = immorph_float(img)
    largest = isint(img) && numel(img) > 0 ? max(float64(max(img)), -float64(min(img))) : 0
    assert(largest <= 2^53, "erosion and dilation by a mask that is no rectangle take integers up to 2^53, got ", largest)
    x = largest > 2^24 ? float64(img) : float(img)
end

{!adjoint immorph_rule}
function y = immorph_erode(x : cube, mask : mat, c)
    y = uninit_like(x)
    parallel_do(size(x, 0..2), y, window_frame(x, size(mask, 0..1), c), immorph_part(x, mask), x, immorph)
end

% Returns 0 for the elements of the mask that take part, and nan for the others.
function part = immorph_part(x, mask)
    part = zeros_like(x, size(mask))
    part[mask == 0] = nan
end

function [dx, dmask, dc] = immorph_rule(x, mask, c, y, dy)
    dx = window_inside(x, immorph_part(x, mask), c, y, dy)
    dmask = null
    dc = null
end

% Checks the arguments; returns [above, below; left, right], how far the mask reaches from the pixel.
function window = immorph_window(what, img, mask : mat, center)
    assert(isreal(img) && numel(size(img)) <= 3, what, ": img must be a real mat or cube, got ", type(img))
    [rows, columns] = size(mask, 0..1)
    i = floor((rows-1)/2)
    j = floor((columns-1)/2)
    if i < 0 || j < 0 || !isempty(center)
        check_filled(strcat(what, ": mask"), mask)
        c = mask_center(what, mask, center)
        [i, j] = c
        assert(i >= 0 && j >= 0 && i < rows && j < columns, _
               what, ": center must be [row, col] of an element of the mask of size ", size(mask), ", got ", center)
    end
    window = [[i, rows-1-i], [j, columns-1-j]]
end

% Function: imerode
% The smallest value under the mask around every pixel; what lies outside the image does not take part.
%
% Parameters:
% img - height x width or height x width x channels; 0/1 or grey. The result has the same type
% mask - which neighbours count, e.g. ones(3,3)
% center - [row, col] of the mask that lies on the pixel; [] is the middle, of an even number the one before it (not so
% scipy.ndimage)
function y = imerode(img, mask : mat = ones(3,3), center = [])
    y = immorph_extreme(img, mask, immorph_window("imerode", img, mask, center), true)
end

% Function: imdilate
% The largest value under the reflected mask, so that a single white pixel grows to the shape of the mask.
function y = imdilate(img, mask : mat = ones(3,3), center = [])
    y = immorph_extreme(img, mask, flip(immorph_window("imdilate", img, mask, center), 1), false)
end

% Function: imopen
% Erosion, then dilation: bright spots that the mask does not fit into vanish.
function y = imopen(img, mask : mat = ones(3,3), center = [])
    window = immorph_window("imopen", img, mask, center)
    y = immorph_extreme(immorph_extreme(img, mask, window, true), mask, flip(window, 1), false)
end

% Function: imclose
% Dilation, then erosion: dark gaps that the mask does not fit into are filled.
function y = imclose(img, mask : mat = ones(3,3), center = [])
    window = immorph_window("imclose", img, mask, center)
    y = immorph_extreme(immorph_extreme(img, mask, flip(window, 1), false), mask, window, true)
end

% Function: strel
% The mask of a shape, of zeros and ones, for <imdilate> and <imerode>.
%
% Parameters:
% shape - "disk", "square", "diamond", "rectangle", "line" or "octagon"
% size_ - radius of "disk" and "diamond" (the distance of the corners), of "octagon" (a multiple of 3), side of
%     "square", [height, width] of "rectangle", length of "line" in pixels
% more - of "disk", the number of lines that approximate it: 4 as in MATLAB, 6, 8, or 0 for all pixels at a distance of
%     at most size_, as skimage.morphology.disk; of "line", its angle in degrees, counter-clockwise from the right
%
% Returns:
% mask - float64; a disk of n lines may be smaller than 2*size_+1 pixels. Source: Adams: Radial decomposition of discs
%     and spheres (1993)
function mask = strel(shape : string, size_, more = null)
    if shape == "line"
        assert(check_real(size_) && numel(size_) == 1 && all(size_ >= 1 && size_ < inf), _
               "strel: size_ of line must be a number of at least 1, got ", check_got(size_))
    else
        check_whole("strel: size_", size_, shape == "square" || shape == "rectangle" ? 1 : 0,
                    shape == "rectangle" ? 2 : 1)
    endif
    assert(all(size_ <= 10000), "strel: size_ must be at most 10000, got ", size_)
    assert(isnull(more) || shape == "disk" || shape == "line", "strel: ", shape, " has no third argument, got ",
           check_got(more))
    match shape with
    | "square" -> mask = ones_like(float64([0]), size_, size_)
    | "rectangle" -> mask = ones_like(float64([0]), size_[0], size_[1])
    | "diamond" -> mask = strel_round(size_, 1, size_)
    | "octagon" ->
        assert(mod(size_, 3) == 0, "strel: size_ of octagon must be a multiple of 3, got ", size_)
        mask = strel_round(size_, 1, size_ + size_/3)
    | "disk" ->
        n = isnull(more) ? 4 : more
        assert(isnumeric(n) && numel(n) == 1 && (n == 0 || n == 4 || n == 6 || n == 8), _
               "strel: a disk has 0, 4, 6 or 8 lines, got ", check_got(n))
        mask = n == 0 || size_ < 3 ? strel_round(size_, 2, size_^2) : strel_disk(size_, n)
    | "line" -> mask = strel_line((size_-1)/2, isnull(more) ? 0 : more)
    | _ -> error("strel: shape must be disk, square, diamond, rectangle, line or octagon, got ", shape)
    end
end

function mask = strel_round(r, power, most)
    k = abs(float64(-r..r)).^power
    mask = float64(k + transpose(k) <= most)
end

function mask = strel_disk(r, n)
    steps = n == 4 ? [[1,0],[1,1],[0,1],[-1,1]] : n == 6 ? [[1,0],[1,2],[2,1],[0,1],[-1,2],[-2,1]] : _
            [[1,0],[2,1],[1,1],[1,2],[0,1],[-1,2],[-1,1],[-2,1]]
    theta = pi/(2*n)
    k = 2*r/(1/tan(theta) + 1/sin(theta))
    mask = float64([[1]])
    for i = 0..n-1
        mask = strel_sum(mask, strel_periodic(floor(k/hypot(steps[i,0], steps[i,1])), steps[i,:]))
    end
    missing = r - (size(mask,0)-1)/2
    if missing >= 2
        mask = strel_sum(mask, ones_like(mask, 2*missing-1, 2*missing-1))
    endif
end

% Points at the multiples -n … n of a step.
function mask = strel_periodic(n, step)
    h = n*abs(step)
    mask = zeros_like(float64([0]), 2*h[0]+1, 2*h[1]+1)
    for i = -n..n
        mask[i*step[0]+h[0], i*step[1]+h[1]] = 1
    end
end

% The set of all sums of two positions.
function mask = strel_sum(a, b)
    mask = float64(conv2(a, b) > 0.5)
end

function mask = strel_line(half, angle)
    check_finite("strel: angle", angle)
    x = round(half*cos(angle*pi/180))
    y = round(half*sin(angle*pi/180))
    n = max(abs(x), abs(y))
    k = float64(-n..n)
    at = slope -> sign(slope)*sign(k).*floor(abs(k*slope) + 0.5)
    rows = abs(x) >= abs(y) ? at(x == 0 ? 0 : -y/x) : k
    columns = abs(x) >= abs(y) ? k : at(-x/y)
    mask = zeros_like(float64([0]), 2*abs(y)+1, 2*abs(x)+1)
    for i = 0..2*n
        mask[rows[i]+abs(y), columns[i]+abs(x)] = 1
    end
end

% Function: bwhitmiss
% The positions of a mask where all pixels under `hit` are set and all pixels under `miss` are not set. Pixels outside
% of the image do not take part, as in MATLAB; for scipy.ndimage, they are not set.
%
% Parameters:
% bw - a mask
% hit - positions that must be set, 1; if miss is null, -1 marks positions that must not be set, 0 the others
% miss - positions that must not be set, of the size of hit
function y = bwhitmiss(bw : mat, hit : mat, miss = null)
    check_each("bwhitmiss: hit must have elements 1, 0 and -1", hit, hit == 0 || hit == 1 || hit == -1)
    if isnull(miss)
        miss = hit == -1
    else
        check_alike("bwhitmiss: hit and miss", hit, miss)
    endif
    assert(!any(hit == 1 && miss != 0), "bwhitmiss: hit and miss must have no position in common")
    y = mask_fits(bw != 0, hit == 1) && mask_fits(bw == 0, miss != 0)
end

% Whether x is set under all positions of a mask; true if it has none.
function y = mask_fits(x, mask)
    y = any(mask) ? imerode(float64(x), float64(mask)) > 0.5 : x || !x
end

% Function: imtophat, imbothat
% The bright spots smaller than the mask, which an opening removes, and the dark gaps, which a closing fills:
% x - imopen(x, mask) and imclose(x, mask) - x.
function y = imtophat(img : cube, mask : mat = ones(3,3))
    y = img - imopen(img, mask)
end

function y = imbothat(img : cube, mask : mat = ones(3,3))
    y = imclose(img, mask) - img
end
