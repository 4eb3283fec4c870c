% Module: imwarp.q
% Images rotated, shifted, scaled and warped.  Positions count from 0 at the center of the first pixel.  Between pixels,
% "nearest" takes the nearest one, "bilinear" interpolates among 2 x 2, "bicubic" among 4 x 4 pixels (the cubic convolution
% with a = -1/2 of Keys: Cubic convolution interpolation for digital image processing, 1981).
%
% Outside of the image, boundary is one of "zeros" (the number fill), "clamped" (the nearest pixel), "mirror"
% (b a | a b c), "reflect" or "mirror_nr" (c b | a b c) and "circular".  Sampled arrays have derivatives with respect to the image.
import "check.q"

function k = __device__ warp_zeros(i : int, n : int)
    k = i
end

function k = __device__ warp_clamped(i : int, n : int)
    k = clamp(i, 0, n-1)
end

function k = __device__ warp_mirror(i : int, n : int)
    j = mod(i, 2*n)
    k = min(j, 2*n-1-j)
end

function k = __device__ warp_reflect(i : int, n : int)
    period = max(2*n-2, 1)
    j = mod(i, period)
    k = min(j, period-j)
end

function k = __device__ warp_circular(i : int, n : int)
    k = mod(i, n)
end

% The value of channel c of x at row u and column v.
function y = __device__ warp_nearest(x, u, v, c : int, border)
    y = x[border(int(floor(u+0.5)), size(x,0)), border(int(floor(v+0.5)), size(x,1)), c]
end

function y = __device__ warp_bilinear(x, u, v, c : int, border)
    i = int(floor(u))
    j = int(floor(v))
    a = u - i
    b = v - j
    top = border(i, size(x,0))
    bottom = border(i+1, size(x,0))
    left = border(j, size(x,1))
    right = border(j+1, size(x,1))
    y = (1-a)*((1-b)*x[top,left,c] + b*x[top,right,c]) + a*((1-b)*x[bottom,left,c] + b*x[bottom,right,c])
end

function w = __device__ warp_cubic_weight(t)
    a = abs(t)
    w = a < 1 ? ((1.5*a-2.5)*a)*a + 1 : a < 2 ? ((-0.5*a+2.5)*a-4)*a + 2 : 0.0
end

function y = __device__ warp_bicubic(x, u, v, c : int, border)
    i = int(floor(u))
    j = int(floor(v))
    y = 0.0
    for m = -1..2
        row = border(i+m, size(x,0))
        s = 0.0
        for n = -1..2
            s += warp_cubic_weight(v - (j+n))*x[row, border(j+n, size(x,1)), c]
        end
        y += warp_cubic_weight(u - (i+m))*s
    end
end

% Stores the value at row u and column v in the pixel pos of y, channel by channel.  A launch over pixels instead of
% elements computes in vectors for grey images, too, and finds the position once for all channels.
function [] = __device__ warp_pixel(y, x, u, v, sample, border, pos : ivec2)
    for c = 0..size(y,2)-1
        y[pos[0],pos[1],c] = sample(x, u, v, c, border)
    end
end

% T, of float64, maps positions (row, column, 1) of the result to positions of x.
function [] = __kernel__ warp_affine(y : cube'unchecked, x : cube'safe, T : mat[float64]'unchecked, sample, border, _
                                     pos : ivec2)
    u = T[0,0]*pos[0] + T[0,1]*pos[1] + T[0,2]
    v = T[1,0]*pos[0] + T[1,1]*pos[1] + T[1,2]
    warp_pixel(y, x, u, v, sample, border, pos)
end

function [] = __kernel__ warp_projective(y : cube'unchecked, x : cube'safe, T : mat[float64]'unchecked, sample, border, _
                                         pos : ivec2)
    w = T[2,0]*pos[0] + T[2,1]*pos[1] + T[2,2]
    u = (T[0,0]*pos[0] + T[0,1]*pos[1] + T[0,2])/w
    v = (T[1,0]*pos[0] + T[1,1]*pos[1] + T[1,2])/w
    warp_pixel(y, x, clamp(u, -1e6, 1e6), clamp(v, -1e6, 1e6), sample, border, pos)
end

function [] = __kernel__ warp_positions(y : cube'unchecked, x : cube'safe, rows : mat'unchecked, columns : mat'unchecked, _
                                        sample, border, pos : ivec2)
    warp_pixel(y, x, clamp(rows[pos], -1e6, 1e6), clamp(columns[pos], -1e6, 1e6), sample, border, pos)
end

function [sample, border] = warp_rules(what, method, boundary)
    sample = warp_bilinear
    match method with
    | "nearest" -> sample = warp_nearest
    | "bilinear" | "linear" -> sample = warp_bilinear
    | "bicubic" | "cubic" -> sample = warp_bicubic
    | _ -> error("%s: method must be nearest, bilinear, linear, bicubic or cubic, got %s", what, method)
    end
    border = warp_zeros
    match boundary with
    | "zeros" -> border = warp_zeros
    | "clamped" -> border = warp_clamped
    | "mirror" -> border = warp_mirror
    | "reflect" | "mirror_nr" -> border = warp_reflect
    | "circular" -> border = warp_circular
    | _ -> error("%s: boundary must be zeros, clamped, mirror, reflect or circular, got %s", what, boundary)
    end
end

% Mixes fill into what lies outside: w is the weight of the image in each pixel.
function y = warp_filled(y, w, fill)
    y = w > 0.999999 ? y : y + (1-w).*fill
end

function y = warp_linear_map(what, img : cube, T, s, method, boundary, fill)
    check_filled(strcat(what, ": img"), img)
    [sample, border] = warp_rules(what, method, boundary)
    channels = size(img,2)
    y = channels == 1 ? uninit_like(img, s) : uninit_like(img, s[0], s[1], channels)
    affine = T[2,0] == 0 && T[2,1] == 0
    kernel = affine ? warp_affine : warp_projective
    T = affine ? T/T[2,2] : T
    parallel_do(s, y, img, T, sample, border, kernel)
    if boundary == "zeros" && fill != 0
        w = uninit_like(img, s)
        parallel_do(s, w, ones_like(img, size(img, 0..1)), T, sample, border, kernel)
        y = warp_filled(y, w, fill)
    endif
end

function s = warp_size(what, img, s)
    if isempty(s)
        s = size(img, 0..1)
    else
        check_whole(strcat(what, ": s"), s, 1, 2)
    endif
end

% Function: affine_transform
% The image y[p] = img[matrix*p + offset] for positions p = [row, column], as scipy.ndimage.affine_transform;
% the boundary "zeros" is its mode="grid-constant".
%
% Parameters:
% img - height x width or height x width x channels
% matrix - 2 x 2, or 2 x 3 and 3 x 3 with the offset as last column
% offset - [down, right], for a matrix of 2 x 2
% s - [height, width] of the result; [] is that of img
% method - "nearest", "bilinear" (or "linear") or "bicubic" (or "cubic")
% boundary - "zeros", "clamped", "mirror", "reflect" or "circular"
% fill - the number outside of the image, for "zeros"
%
% Returns:
% an image of the element type of img (of integers: scalar)
%
% See also: <imwarp>, <imrotate>
function y = affine_transform(img : cube, matrix : mat, offset = [0,0], s = [], method : string = "bilinear", _
                              boundary : string = "zeros", fill : scalar = 0)
    rows = size(matrix,0)
    columns = size(matrix,1)
    assert(rows == 2 && (columns == 2 || columns == 3) || rows == 3 && columns == 3, _
           "affine_transform: matrix must be 2 x 2, 2 x 3 or 3 x 3, got size ", size(matrix))
    assert(numel(offset) == 2, "affine_transform: offset must be [down, right], got ", offset)
    T = float64(eye(3))
    T[0..rows-1, 0..columns-1] = float64(matrix)
    if columns == 2
        T[0,2] = offset[0]
        T[1,2] = offset[1]
    endif
    y = warp_linear_map("affine_transform", img, T, warp_size("affine_transform", img, s), method, boundary, fill)
end

% Function: imwarp
% An image after a transform T of the plane: the pixel at x (right), y (down) moves to T*[x; y; 1], divided by its third
% component where T is projective. Agrees with cv2.warpAffine and cv2.warpPerspective; MATLAB's affinetform2d counts
% pixels from 1.
%
% Parameters:
% img - height x width or height x width x channels
% T - 2 x 3 or 3 x 3
% s - [height, width] of the result; [] is that of img
% method - "nearest", "bilinear" (or "linear") or "bicubic" (or "cubic")
% boundary - "zeros", "clamped", "mirror", "reflect" or "circular"
% fill - the number outside of the image, for "zeros"
%
% See also: <fitgeotrans>, <affine_transform>, <imremap>
function y = imwarp(img : cube, T : mat, s = [], method : string = "bilinear", boundary : string = "zeros", _
                    fill : scalar = 0)
    assert((size(T,0) == 2 || size(T,0) == 3) && size(T,1) == 3, "imwarp: T must be 2 x 3 or 3 x 3, got size ", size(T))
    full = float64(eye(3))
    full[0..size(T,0)-1,:] = float64(T)
    assert(abs(det(full)) > 0, "imwarp: T must have an inverse, got ", T)
    swap = float64([[0,1,0],[1,0,0],[0,0,1]])
    y = warp_linear_map("imwarp", img, swap*inv(full)*swap, warp_size("imwarp", img, s), method, boundary, fill)
end

% Function: imrotate
% An image rotated about its middle, counter-clockwise, as scipy.ndimage.rotate(mode="grid-constant").
%
% Parameters:
% img - height x width or height x width x channels
% angle - in degrees
% method - "nearest", "bilinear" (or "linear") or "bicubic" (or "cubic")
% bbox - "loose": the result is large enough for all of the image; "crop": it has the size of img
% fill - the number outside of the image
function y = imrotate(img : cube, angle : scalar, method : string = "bilinear", bbox : string = "loose", fill : scalar = 0)
    assert(bbox == "loose" || bbox == "crop", "imrotate: bbox must be loose or crop, got ", bbox)
    assert(isfinite(angle), "imrotate: angle must be finite, got ", angle)
    quarter = mod(angle, 90) == 0
    c = quarter ? [1,0,-1,0][mod(angle/90, 4)] : cos(angle*(pi/180))
    d = quarter ? [0,1,0,-1][mod(angle/90, 4)] : sin(angle*(pi/180))
    from = size(img, 0..1)
    s = bbox == "crop" ? from : floor([abs(c)*from[0] + abs(d)*from[1], abs(d)*from[0] + abs(c)*from[1]] + 0.5)
    T = float64([[c,d,0],[-d,c,0],[0,0,1]])
    T[0..1,2] = float64(transpose((from-1)/2)) - T[0..1,0..1]*float64(transpose((s-1)/2))
    y = warp_linear_map("imrotate", img, T, s, method, "zeros", fill)
end

% Function: shift, imtranslate
% An image moved by a distance that may have a fraction. shift takes [down, right], as scipy.ndimage.shift (the
% boundary "zeros" is its mode="grid-constant"); imtranslate takes [right, down], as MATLAB. For method, boundary and fill see
% affine_transform.
%
% :function y = shift(img : cube, by : vec, method : string = "bilinear", boundary : string = "zeros", fill : scalar = 0)
function y = shift(img : cube, by, method : string = "bilinear", boundary : string = "zeros", fill : scalar = 0)
    assert(numel(by) == 2 && all(isfinite(by)), "shift: by must be [down, right], got ", check_got(by))
    y = affine_transform(img, eye(2), 0-float64(by), [], method, boundary, fill)
end

function y = imtranslate(img : cube, by, method : string = "bilinear", boundary : string = "zeros", fill : scalar = 0)
    assert(numel(by) == 2 && all(isfinite(by)), "imtranslate: by must be [right, down], got ", check_got(by))
    y = affine_transform(img, eye(2), [-by[1],-by[0]], [], method, boundary, fill)
end

% Function: zoom
% An image scaled so that its first and last pixels remain the first and last ones, as scipy.ndimage.zoom. For pixels that
% are squares, and for averaging where the image shrinks, see imresize.
%
% Parameters:
% img - height x width or height x width x channels
% factor - one number, or [down, right]; the size is round(factor*size)
function y = zoom(img : cube, factor, method : string = "bilinear", boundary : string = "clamped")
    assert(check_real(factor) && numel(factor) <= 2 && all(factor > 0) && all(factor < inf), _
           "zoom: factor must be a number > 0 or [down, right], got ", check_got(factor))
    from = size(img, 0..1)
    s = max(round(float64(from).*factor), 1)
    step = float64(from-1)./max(s-1, 1)
    y = affine_transform(img, diagm(step), [0,0], s, method, boundary)
end

% Function: imremap
% The image sampled at given positions: y[i,j] = img[rows[i,j], columns[i,j]], as cv2.remap and
% scipy.ndimage.map_coordinates; the boundary "zeros" is mode="grid-constant" of the latter.
%
% Parameters:
% img - height x width or height x width x channels
% rows, columns - two matrices of one size, positions from 0
function y = imremap(img : cube, rows : mat, columns : mat, method : string = "bilinear", boundary : string = "zeros", _
                     fill : scalar = 0)
    check_alike("imremap: rows and columns", rows, columns)
    check_filled("imremap: img", img)
    [sample, border] = warp_rules("imremap", method, boundary)
    s = size(rows, 0..1)
    channels = size(img,2)
    y = channels == 1 ? uninit_like(img, s) : uninit_like(img, s[0], s[1], channels)
    parallel_do(s, y, img, rows, columns, sample, border, warp_positions)
    if boundary == "zeros" && fill != 0
        w = uninit_like(img, s)
        parallel_do(s, w, ones_like(img, size(img, 0..1)), rows, columns, sample, border, warp_positions)
        y = warp_filled(y, w, fill)
    endif
end

% Function: fitgeotrans
% The transform that maps points best to other points in the sense of least squares, for imwarp.
%
% Parameters:
% moving, fixed - N x 2, a row [x, y] per point
% kind - "translation", "similarity" (rotation, scale, shift), "affine" or "projective"
%
% Returns:
% T - 3 x 3, in float64: T*[x; y; 1] of moving is near fixed
%
% Source: Umeyama: Least-squares estimation of transformation parameters between two point patterns (1991); Hartley,
% Zisserman: Multiple view geometry (2004), algorithm 4.2.
function T = fitgeotrans(moving : mat, fixed : mat, kind : string = "affine")
    check_alike("fitgeotrans: moving and fixed", moving, fixed)
    assert(size(moving,1) == 2, "fitgeotrans: moving must be N x 2, got size ", size(moving))
    least = kind == "translation" ? 1 : kind == "similarity" ? 2 : kind == "affine" ? 3 : 4
    n = size(moving,0)
    a = float64(moving)
    b = float64(fixed)
    assert(n >= least, "fitgeotrans: a transform that is ", kind, " needs at least ", least, " points, got ", n)
    T = float64(eye(3))
    ma = mean(a, 0)
    mb = mean(b, 0)
    match kind with
    | "translation" ->
        T[0..1,2] = transpose(mb - ma)
    | "similarity" ->
        p = a - ma
        q = b - mb
        c = sum(p.*q)/sum(p.^2)
        d = sum(p[:,0].*q[:,1] - p[:,1].*q[:,0])/sum(p.^2)
        T[0..1,0..1] = float64([[c,-d],[d,c]])
        T[0..1,2] = transpose(mb) - T[0..1,0..1]*transpose(ma)
    | "affine" ->
        T[0..1,:] = transpose(solve(horzcat(a, ones_like(a, n, 1)), b))
    | "projective" ->
        N = fitgeotrans_normal(a, ma)
        M = fitgeotrans_normal(b, mb)
        one = ones_like(a, n, 1)
        p = horzcat(a, one)*transpose(N)
        q = horzcat(b, one)*transpose(M)
        none = zeros_like(a, n, 3)
        A = vertcat(horzcat(p, none, 0-q[:,0].*p), horzcat(none, p, 0-q[:,1].*p))
        [V, d] = symeig(transpose(A)*A)
        T = inv(M)*reshape(V[:,0], [3,3])*N
        T = T/T[2,2]
    | _ ->
        error("fitgeotrans: kind must be translation, similarity, affine or projective, got %s", kind)
    end
end

% The transform that moves the mean of points to 0 and scales their mean distance to sqrt(2).
function N = fitgeotrans_normal(a, middle)
    distance = mean(sqrt(sum((a - middle).^2, 1)))
    k = distance > 0 ? sqrt(2)/distance : 1
    N = float64([[k,0,0],[0,k,0],[0,0,1]])
    N[0..1,2] = 0 - k*transpose(middle)
end
