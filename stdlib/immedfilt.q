% Module: immedfilt.q
% The median filter.

% Keeps the smaller half of the window sorted: every new value is inserted at its place, and the largest one is dropped.
% nan sorts behind all numbers, as in medfilt.
function [] = __kernel__ immedfilt_window(y : cube'unchecked, x : cube'mirror, r : int, pos : ivec3)
    half = int(((2*r+1)^2+1)/2)
    smallest = ones(half)/0
    numbers = 0.0
    for i = -r..r
        for j = -r..r
            v = x[pos[0]+i, pos[1]+j, pos[2]]
            numbers += isnan(v) ? 0.0 : 1.0
            v = min(v, 1/0)                        % min returns the other argument for nan
            for k = 0..half-1
                other = smallest[k]
                smallest[k] = min(other, v)
                v = max(other, v)
            end
        end
    end
    y[pos] = numbers < half ? 0/0 : smallest[half-1]
end

% Computes medfilt with r = 0 or 1 for arrays on a device.
function y = immedfilt_small(img : cube, r : int)
    y = uninit_like(img)
    parallel_do(size(img, 0..2), y, img, r, immedfilt_window)
end

% Function: immedfilt
% Every pixel becomes the median of the (2r+1) x (2r+1) pixels around it; outside the image is mirrored. From r = 2 on by
% the processor.
%
% Parameters:
% img - height x width or height x width x channels
% r - radius of the window
function y = immedfilt(img : cube, r : int = 1)
    assert(r >= 0 && r <= 255, "immedfilt: r must be 0 to 255, got ", r)
    y = medfilt(img, r)
end
