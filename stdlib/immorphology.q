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
        y = cast_like(immorph_erode(img, mask, [window[0,0], window[1,0]]), img)
    else                                       % 0 - x avoids -0
        y = cast_like(0 - immorph_erode(0 - img, flip(flip(mask, 0), 1), [window[0,0], window[1,0]]), img)
    end
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
