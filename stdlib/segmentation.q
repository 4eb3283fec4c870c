% Module: segmentation.q
% Regions of images by the values and positions of their pixels.
import "check.q"

% Moves pixels at the border of the mask to the side whose mean m[1] (inside) or m[0] (outside) is nearer.
function [] = __kernel__ contour_attach(v : mat[uint8]'unchecked, u : mat[uint8]'safe, x : mat'unchecked, _
                                        m : vec'unchecked, inner : scalar, outer : scalar, pos : ivec2)
    i = pos[0]
    j = pos[1]
    up = u[max(i-1, 0),j]
    down = u[min(i+1, size(u,0)-1),j]
    left = u[i,max(j-1, 0)]
    right = u[i,min(j+1, size(u,1)-1)]
    a = x[pos] - m[1]
    b = x[pos] - m[0]
    d = inner*a*a - outer*b*b
    border = up != down || left != right
    v[pos] = border && d < 0 ? 1 : border && d > 0 ? 0 : u[pos]
end

% 1 where one of the four lines through a pixel is all inside.
function [] = __kernel__ contour_lines(v : mat[uint8]'unchecked, u : mat[uint8]'safe, pos : ivec2)
    i = pos[0]
    j = pos[1]
    rows = min(u[i,j-1], u[i,j+1])
    columns = min(u[i-1,j], u[i+1,j])
    falling = min(u[i-1,j-1], u[i+1,j+1])
    rising = min(u[i-1,j+1], u[i+1,j-1])
    v[pos] = min(u[pos], max(max(rows, columns), max(falling, rising)))
end

% 0 where one of the four lines through a pixel is all outside.
function [] = __kernel__ contour_gaps(v : mat[uint8]'unchecked, u : mat[uint8]'safe, pos : ivec2)
    i = pos[0]
    j = pos[1]
    rows = max(u[i,j-1], u[i,j+1])
    columns = max(u[i-1,j], u[i+1,j])
    falling = max(u[i-1,j-1], u[i+1,j+1])
    rising = max(u[i-1,j+1], u[i+1,j-1])
    v[pos] = max(u[pos], min(min(rows, columns), min(falling, rising)))
end

% Function: activecontour, chan_vese
% The mask of the region whose grey values differ most from the rest, from a contour that moves to separate the means
% inside and outside and remains smooth. Source: Marquez-Neila, Baumela, Alvarez: A morphological approach to
% curvature-based evolution of curves and surfaces (2014); as skimage.segmentation.morphological_chan_vese.
%
% Parameters:
% x - a grey image
% mask - where the contour begins; null is a checkerboard with squares of 5 pixels
% n - the number of iterations
% smoothing - how often the contour is smoothed in each iteration, 0 or more
% inner, outer - weights of the differences from the mean inside and outside; a larger one makes its side more uniform
%
% Returns:
% y - a mask
%
% :function y = activecontour(x : mat, mask = null, n : int = 100, smoothing : int = 1, inner : scalar = 1, outer : scalar = 1)
function y = activecontour(x : mat, mask = null, n : int = 100, smoothing : int = 1, inner : scalar = 1, _
                           outer : scalar = 1)
    check_finite("activecontour: x", x)
    check_filled("activecontour: x", x)
    check_whole("activecontour: n", n, 0)
    check_whole("activecontour: smoothing", smoothing, 0)
    check_least("activecontour: inner", inner, 0)
    check_least("activecontour: outer", outer, 0)
    if isnull(mask)
        i = transpose(floor((0..size(x,0)-1)/5))
        j = floor((0..size(x,1)-1)/5)
        mask = mod(i + j, 2) == 1
    endif
    check_alike("activecontour: x and mask", x, mask)
    u = uint8(mask != 0)
    v = uint8(mask != 0)
    g = float64(x)
    total = sum(g)
    turns = 0
    for k = 1..n
        count = sum(u)
        inside = sum(g.*u)
        m = [(total - inside)/(numel(g) - count + 1e-8), inside/(count + 1e-8)]
        parallel_do(size(u), v, u, g, float64(m), inner, outer, contour_attach)
        for s = 1..smoothing
            if mod(turns, 2) == 0
                parallel_do(size(u), u, v, contour_gaps)
                parallel_do(size(u), v, u, contour_lines)
            else
                parallel_do(size(u), u, v, contour_lines)
                parallel_do(size(u), v, u, contour_gaps)
            endif
            turns += 1
        end
        [u, v] = {v, u}
    end
    y = u != 0
end

function y = chan_vese(x : mat, mask = null, n : int = 100, smoothing : int = 1, inner : scalar = 1, outer : scalar = 1)
    y = activecontour(x, mask, n, smoothing, inner, outer)
end
