% windows.q -- derivatives of order statistics of windows (movmin, imerode, medfilt, …): each result is one element of
% its window, and gives its adjoint to the first one that equals it.
import "imboundary.q"

% Surrounds x with nan, so that a window of s elements with element c on the position stays inside.
function framed = window_frame(x : cube, s, c)
    n = size(x)
    n[0..1] = n[0..1] + s-1
    framed = zeros_like(x, n)/0
    framed[c[0]..c[0]+size(x,0)-1, c[1]..c[1]+size(x,1)-1, 0..size(x,2)-1] = x
end

% Finds the element of a window, or the element at the position itself if none equals y.  The rows of framed, x with a
% border, contain the channels of all columns; `step` is their number; mask: 0 for the elements of the window, nan for
% others; itself: the distance from the first element of a window to the position.
function [] = __kernel__ window_position(position : mat[int]'unchecked, framed : mat'unchecked, y : mat'unchecked, _
                                      mask : mat'unchecked, step : int, itself : int, pos : ivec2)
    at = itself
    for i = size(mask,0)-1..-1..0
        for j = size(mask,1)-1..-1..0
            same = framed[pos[0]+i,pos[1]+j*step] + mask[i,j] == y[pos]
            at = same ? i*size(framed,1) + j*step : at
        end
    end
    position[pos] = at + pos[0]*size(framed,1) + pos[1]
end

% Returns the adjoint of framed; c: [row, col] of the element of the window that is at the position.
function d = window_adjoint(framed : cube, mask : mat, c, y : cube, dy : cube)
    [rows, columns, step] = size(y, 0..2)
    wide = reshape(stop_gradient(framed), [size(framed,0), size(framed,1)*step])
    position = mat[int](rows, columns*step)
    parallel_do([rows, columns*step], position, wide, reshape(stop_gradient(y), [rows, columns*step]), mask, step, _
                c[0]*size(wide,1) + c[1]*step, window_position)
    d = add_along(reshape(dy, [1,numel(dy)]), reshape(position, [1,numel(dy)]), 1, numel(framed))
    d = reshape(d, size(framed, 0..2))
end

% The same for a window that is cut off at the border of x: returns the adjoint of x.
function dx = window_inside(x : cube, mask : mat, c, y, dy)
    d = window_adjoint(window_frame(x, size(mask, 0..1), c), mask, c, y, dy)
    dx = reshape(d[c[0]..c[0]+size(x,0)-1, c[1]..c[1]+size(x,1)-1, :], size(y))
end

% The same for (2r+1) x (2r+1) elements of a mirrored x.  The mirrored rows of one row are equal, so that one suffices.
function dx = window_mirrored(x : cube, r, y, dy)
    c = size(x, 0..1) > 1 ? [r,r] : [0,0]
    mask = zeros_like(x, 2*c+1)
    dx = bound_folded(window_adjoint(bound_extension(x, c[0], c[1], "mirror"), mask, c, y, dy), y, c[0], c[1], "mirror")
end

% The same in rows: framed has columns before*step on the left and more on the right.
function [] = __kernel__ window_column(position : mat[int]'unchecked, framed : mat'unchecked, y : mat'unchecked, _
                                       before : int, after : int, step : int, pos : ivec2)
    at = 0
    for i = after..-1..-before
        at = framed[pos[0], pos[1] + (before+i)*step] == y[pos] ? i*step : at
    end
    position[pos] = pos[1] + at
end

% The same for a window in the rows of x, cut off at their ends: every step-th column from before*step columns to the
% left to after*step columns to the right.
function dx = window_along(x : mat, before, after, step, y : mat, dy : mat)
    [rows, columns] = size(x)
    first = before*step
    framed = uninit_like(x, rows, first + columns + after*step)
    framed[:, 0..first-1] = nan
    framed[:, first..first+columns-1] = stop_gradient(x)
    framed[:, first+columns..first+columns+after*step-1] = nan
    position = mat[int](rows, columns)
    parallel_do([rows,columns], position, framed, stop_gradient(y), before, after, step, window_column)
    dx = add_along(dy, position, 1, columns)
end
