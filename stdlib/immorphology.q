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

% Erosion, or dilation unless `erode`, by a mask whose element center is on the pixel.
function y = immorph_extreme(x : cube, mask : mat, c, erode)
    [rows, columns] = size(mask, 0..1)
    if all(mask != 0)                          % a rectangle: its columns, then its rows
        y = immorph_line(x, [c[0],rows-1-c[0]], 0, erode)
        y = immorph_line(y, [c[1],columns-1-c[1]], 1, erode)
    else
        y = erode ? immorph_erode(x, mask, c) : 0 - immorph_erode(0 - x, mask, c) % 0 - x avoids -0
    end
end

function y = immorph_line(x, window, dim, erode)
    y = erode ? movmin(x, window, dim) : movmax(x, window, dim)
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

function c = immorph_center(what, mask : mat, center)
    check_filled(strcat(what, ": mask"), mask)
    c = mask_center(what, mask, center)
    assert(all(c >= 0) && all(c < size(mask)), _
           what, ": center must be [row, col] of an element of the mask of size ", size(mask), ", got ", center)
end

% Function: imerode
% The smallest value under the mask around every pixel; what lies outside the image does not take part.
%
% Parameters:
% img - height x width or height x width x channels; 0/1 or grey
% mask - which neighbours count, e.g. ones(3,3)
% center - [row, col] of the mask that lies on the pixel; [] is the middle, of an even number the one before it (not so
% scipy.ndimage)
function y = imerode(img : cube, mask : mat = ones(3,3), center = [])
    y = immorph_extreme(img, mask, immorph_center("imerode", mask, center), true)
end

% Function: imdilate
% The largest value under the reflected mask, so that a single white pixel grows to the shape of the mask.
function y = imdilate(img : cube, mask : mat = ones(3,3), center = [])
    c = int(size(mask,0..1))-1 - immorph_center("imdilate", mask, center)
    y = immorph_extreme(img, flipud(fliplr(mask)), c, false)
end

% Function: imopen
% Erosion, then dilation: bright spots that the mask does not fit into vanish.
function y = imopen(img : cube, mask : mat = ones(3,3), center = [])
    c = immorph_center("imopen", mask, center)
    y = imdilate(imerode(img, mask, c), mask, c)
end

% Function: imclose
% Dilation, then erosion: dark gaps that the mask does not fit into are filled.
function y = imclose(img : cube, mask : mat = ones(3,3), center = [])
    c = immorph_center("imclose", mask, center)
    y = imerode(imdilate(img, mask, c), mask, c)
end
