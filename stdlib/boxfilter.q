% Module: boxfilter.q
% Sums over windows. The time does not depend on the size of large windows.
import "check.q"

% Computes a running sum along one line: adds the element that enters the window, subtracts the one that leaves.
function [] = __kernel__ boxfilter_line(y : cube'unchecked, x : cube'safe, dim : int, r : int, pos : ivec2)
    s = 0.0
    for k = 0..r-1
        s += dim == 0 ? x[k,pos[0],pos[1]] : x[pos[0],k,pos[1]]
    end
    for k = 0..size(x,dim)-1
        if dim == 0
            s += x[k+r,pos[0],pos[1]] - x[k-r-1,pos[0],pos[1]]
            y[k,pos[0],pos[1]] = s
        else
            s += x[pos[0],k+r,pos[1]] - x[pos[0],k-r-1,pos[1]]
            y[pos[0],k,pos[1]] = s
        endif
    end
end

% Sums of 2r+1 neighbours.
function [] = __kernel__ boxfilter_down(y : cube'unchecked, x : cube'safe, r : int, pos : ivec3)
    s = 0.0
    for k = -r..r
        s += x[pos[0]+k,pos[1],pos[2]]
    end
    y[pos] = s
end

function [] = __kernel__ boxfilter_right(y : cube'unchecked, x : cube'safe, r : int, pos : ivec3)
    s = 0.0
    for k = -r..r
        s += x[pos[0],pos[1]+k,pos[2]]
    end
    y[pos] = s
end

% Function: boxfilter
% The sum of the (2r+1) x (2r+1) pixels around every pixel; outside the image they count as 0.
% Divide by boxfilter(ones(size(img)), r) for the mean.
%
% Parameters:
% img - height x width or height x width x channels
% r - radius of the window
function y = boxfilter(img : cube, r : int)
    check_least("boxfilter: r", r, 0)
    columns = uninit_like(img)
    y = uninit_like(img)
    if r <= 12 && all(size(img, 0..1) >= 16*r)
        % Neighbours are added as vectors, which takes less time than running sums, except near the border.
        parallel_do(size(img, 0..2), columns, img, r, boxfilter_down)
        parallel_do(size(img, 0..2), y, columns, r, boxfilter_right)
    elseif numel(img) > 0
        % Outside the image everything is 0, so that a radius above the extent adds nothing.
        parallel_do(size(img, 1..2), columns, img, 0, min(r, size(img,0)), boxfilter_line)
        parallel_do(size(img, [0,2]), y, columns, 1, min(r, size(img,1)), boxfilter_line)
    endif
end
