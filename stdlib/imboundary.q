% Module: imboundary.q
% Images with a border.
import "check.q"

% Function: boundary_index
% The indices -r … n-1+r, brought back into 0 … n-1 by a boundary rule.
%
% Parameters:
% n - how many samples there are
% r - how many are added at either end
% mode - "mirror" (b a | a b c), "reflect" or "mirror_nr" (c b | a b c), "circular" or "clamped"
%
% :function k = boundary_index(n : int, r : int, mode : string)
function k = boundary_index(n, r, mode : string)
    check_whole("boundary_index: n", n, 0)
    check_whole("boundary_index: r", r, 0)
    assert(n > 0 || r == 0, "boundary_index: of 0 samples nothing can be repeated, got r ", r)
    i = -r..n-1+r
    match mode with
    | "mirror" ->
        j = mod(i, 2*n)
        k = min(j, 2*n-1-j)
    | "reflect" | "mirror_nr" ->
        period = max(2*n-2, 1)
        j = mod(i, period)
        k = min(j, period-j)
    | "circular" ->
        k = mod(i, n)
    | "clamped" ->
        k = clamp(i, 0, n-1)
    | _ ->
        error("boundary: mode must be mirror, reflect, circular, clamped or zeros, got %s", mode)
    end
end

% Function: bound_extension
% An image with y rows more above and below and x columns more on the left and on the right.
%
% Parameters:
% img - height x width or height x width x channels
% y, x - how many rows and columns are added on each side
% mode - "mirror", "reflect" (or "mirror_nr"), "circular", "clamped" or "zeros"
function ext = bound_extension(img : cube, y : int, x : int, mode : string = "mirror")
    check_least("bound_extension: y", y, 0)
    check_least("bound_extension: x", x, 0)
    if mode == "zeros"
        s = size(img)
        s[0..1] = s[0..1] + 2*[y, x]
        ext = zeros_like(img, s)
        ext[y..y+size(img,0)-1, x..x+size(img,1)-1, 0..size(img,2)-1] = img
    else
        rows = boundary_index(size(img,0), y, mode)
        columns = boundary_index(size(img,1), x, mode)
        ext = img[rows, columns, 0..size(img,2)-1]
    endif
end

% The adjoint of bound_extension: adds the border of d to the elements that it repeats; img: an image of the result's size.
function folded = bound_folded(d : cube, img : cube, y, x, mode)
    [rows, columns] = size(img, 0..1)
    if mode != "zeros"
        k = y + boundary_index(rows, y, mode)
        for i = horzcat(0..y-1, y+rows..2*y+rows-1)
            d[k[i],:,:] += d[i,:,:]
        end
        k = x + boundary_index(columns, x, mode)
        for i = horzcat(0..x-1, x+columns..2*x+columns-1)
            d[:,k[i],:] += d[:,i,:]
        end
    end
    folded = reshape(d[y..y+rows-1, x..x+columns-1, :], size(img))
end

% Function: padarray
% An image with more pixels around it, as in MATLAB.
%
% Parameters:
% img - height x width or height x width x channels
% s - [rows, columns] that are added on each side, or one number for rows
% value - the number of the new pixels, or "replicate", "symmetric" (b a | a b c) or "circular"
% direction - "both", "pre" (above and on the left) or "post"
function y = padarray(img : cube, s, value = 0, direction : string = "both")
    s = numel(s) == 1 ? horzcat(s, 0) : s
    check_whole("padarray: s", s, 0, 2)
    assert(direction == "both" || direction == "pre" || direction == "post",
           "padarray: direction must be both, pre or post, got ", direction)
    [rows, columns] = size(img, 0..1)
    if isstring(value)
        modes = dict()
        modes["replicate"] = "clamped"
        modes["symmetric"] = "mirror"
        modes["circular"] = "circular"
        assert(iskey(modes, value), "padarray: value must be a number, replicate, symmetric or circular, got ", value)
        y = bound_extension(img, int(s[0]), int(s[1]), modes[value])
    else
        assert(isnumeric(value) && numel(value) == 1,
               "padarray: value must be a number, replicate, symmetric or circular, got ", check_got(value))
        y = bound_extension(img, int(s[0]), int(s[1]), "zeros") + value
        y[s[0]..s[0]+rows-1, s[1]..s[1]+columns-1, 0..size(img,2)-1] = img
    endif
    if direction == "pre"
        y = y[0..s[0]+rows-1, 0..s[1]+columns-1, :]
    elseif direction == "post"
        y = y[s[0]..2*s[0]+rows-1, s[1]..2*s[1]+columns-1, :]
    endif
    if ndims(img) <= 2
        y = reshape(y, [size(y,0),size(y,1)])
    endif
end
