% Module: immorphology.q
% Morphology of grey and binary images.  A mask is a set of positions: its elements that are not 0.

% The smallest (sign 1) or, of the reflected mask, the largest (sign -1) pixel under the mask.
function [] = __kernel__ immorph(y : cube'unchecked, x : cube'unchecked, mask : mat'unchecked, center : ivec2, sign : int, pos : ivec3)
    best = 0.0
    found = 0
    for i = 0..size(mask,0)-1
        for j = 0..size(mask,1)-1
            m = pos[0]+sign*(i-center[0])
            n = pos[1]+sign*(j-center[1])
            if mask[i,j] != 0 && m >= 0 && n >= 0 && m < size(x,0) && n < size(x,1)
                v = x[m,n,pos[2]]
                if found == 0 || sign*v < sign*best
                    best = v
                endif
                found = 1
            endif
        end
    end
    y[pos] = found == 1 ? best : x[pos]
end

function y = immorph_run(x : cube, mask : mat, center, sign : int)
    c = isempty(center) ? int((size(mask,0..1)-1)/2) : int(center)
    y = uninit_like(x)
    parallel_do(size(x, 0..2), y, x, mask, c, sign, immorph)
end

% Function: imerode
% The smallest value under the mask around every pixel; what lies outside the image does not take part.
%
% Parameters:
% img - height x width or height x width x channels; 0/1 or grey
% mask - which neighbours count, e.g. ones(3,3)
% center - [row, col] of the mask that lies on the pixel; [] is the middle
%
% :function y = imerode(img : cube, mask : mat, center : vec = [])
function y = imerode(img : cube, mask : mat = ones(3,3), center = [])
    y = immorph_run(img, mask, center, 1)
end

% Function: imdilate
% The largest value under the reflected mask, so that a single white pixel grows to the shape of the mask.
%
% :function y = imdilate(img : cube, mask : mat, center : vec = [])
function y = imdilate(img : cube, mask : mat = ones(3,3), center = [])
    y = immorph_run(img, mask, center, -1)
end

% Function: imopen
% Erosion, then dilation: bright spots that the mask does not fit into vanish.
%
% :function y = imopen(img : cube, mask : mat, center : vec = [])
function y = imopen(img : cube, mask : mat = ones(3,3), center = [])
    y = imdilate(imerode(img, mask, center), mask, center)
end

% Function: imclose
% Dilation, then erosion: dark gaps that the mask does not fit into are filled.
%
% :function y = imclose(img : cube, mask : mat, center : vec = [])
function y = imclose(img : cube, mask : mat = ones(3,3), center = [])
    y = imerode(imdilate(img, mask, center), mask, center)
end
