% Module: imresize.q
% Images of another size.
import "imfilter.q" % programs rely on this import

% How far samples have a weight, for "box", "bilinear", "bicubic", "lanczos2" and "lanczos3".
imresize_reach = [0.5, 1, 2, 2, 3]

% Weight of a sample at distance t. "bicubic" is the cubic convolution with a = -1/2 of Keys (1981).
function w = __device__ imresize_weight(t, method : int, reach)
    a = abs(t)
    if method == 0
        w = t > -0.5 && t <= 0.5 ? 1 : 0
    elseif method == 1
        w = max(1-a, 0)
    elseif method == 2
        w = a < 1 ? ((1.5*a-2.5)*a)*a+1 : a < 2 ? ((-0.5*a+2.5)*a-4)*a+2 : 0
    else
        w = a < reach ? (sin(pi*a)*sin(pi*a/reach) + eps)/(pi^2*a^2/reach + eps) : 0
    endif
end

% Computes column p of the tables: the samples that result p is a sum of, and their weights.  Pixels are squares, so
% result p is at (p+0.5)*step-0.5 of the n samples; step and reach are float64, because float32 would space the
% positions of large images unevenly.  When the image shrinks, the weights are as wide as the step, which prevents
% aliasing.
function [] = __kernel__ imresize_table(places : mat[int]'unchecked, weights : mat[float64]'unchecked, _
                                        step_reach : vec[float64]'unchecked, n : int, method : int, pos : int)
    step = step_reach[0]
    reach = step_reach[1]
    at = (pos+0.5)*step - 0.5
    taps = size(places,0)
    total = 0*at
    for k = 0..taps-1
        sample = floor(at) + 1 - taps/2 + k % further samples have no weight
        w = imresize_weight((sample - at)/max(step, 1), method, reach)
        places[k,pos] = int(clamp(sample, 0, n-1))
        weights[k,pos] = w
        total += w
    end
    for k = 0..taps-1
        weights[k,pos] /= total
    end
end

% Computes row p of the result: the sum of weights[k,p] times row places[k,p] of x.
function [] = __kernel__ imresize_rows(y : mat'unchecked, x : mat'unchecked, places : mat[int]'unchecked, _
                                       weights : mat'unchecked, pos : ivec2)
    total = 0.0
    for k = 0..size(weights,0)-1
        total += weights[k,pos[0]]*x[places[k,pos[0]],pos[1]]
    end
    y[pos] = total
end

% Computes column p of the result.  Neighbouring positions read neighbouring elements of the tables, so that the
% compiler gathers the elements of x in vectors.
function [] = __kernel__ imresize_columns(y : mat'unchecked, x : mat'unchecked, places : mat[int]'unchecked, _
                                          weights : mat'unchecked, pos : ivec2)
    total = 0.0
    for k = 0..size(weights,0)-1
        total += weights[k,pos[1]]*x[pos[0],places[k,pos[1]]]
    end
    y[pos] = total
end

% Scales dimension `dim`.
function y = imresize_side(x : cube, to, method, dim)
    n = size(x,dim)
    step = n/to
    reach = imresize_reach[method]
    taps = 2*ceil(reach*max(step, 1))
    places = mat[int](taps, to)
    weights = mat[float64](taps, to)
    parallel_do(to, places, weights, float64([step, reach]), n, method, imresize_table)
    y = imresize_weighted(x, places, weights, dim)
end

% Returns an image whose row p (dim 0) or column p (dim 1) is the sum of weights[k,p] times row or column places[k,p]
% of x.
{!adjoint imresize_rule}
function y = imresize_weighted(x : cube, places, weights, dim)
    s = size(x)
    to = size(places,1)
    s[dim] = to
    y = uninit_like(x, s)
    channels = size(x,2)
    if dim == 1 && channels > 1 % channels are more columns
        taps = size(places,0)
        places = reshape(reshape(places*channels, [taps,to,1]) + reshape(0..channels-1, [1,1,channels]), [taps,to*channels])
        weights = reshape(repmat(reshape(weights, [taps,to,1]), [1,1,channels]), [taps,to*channels])
    endif
    s = [size(y,0), size(y,1)*channels]
    parallel_do(s, reshape(y, s), reshape(x, [size(x,0), size(x,1)*channels]), int(places), cast_like(weights, x), _
                dim == 0 ? imresize_rows : imresize_columns)
end

% The adjoint has the transposed table: each row or column of x lists the rows or columns of y that it is part of.
function dx = imresize_rule(x, places, weights, dim, y, dy)
    n = size(x,dim)
    to = size(places,1)
    [rows, order] = sort(reshape(places, [1,numel(places)]))
    counts = bincount(rows, n)
    most = max(counts)
    at = (0..numel(rows)-1) - (cumsum(counts) - counts)[rows]
    back = zeros_like(counts, most*n)
    factors = zeros_like(counts, most*n)
    back[at*n + rows] = order - floor(order/to)*to
    factors[at*n + rows] = reshape(weights, [1,numel(weights)])[order]
    back = reshape(back, [most,n])
    factors = reshape(factors, [most,n])
    dx = reshape(imresize_weighted(dy, where(factors == 0, back[0,:], back), factors, dim), size(x))
end

function [] = __kernel__ imresize_nearest(y : cube'unchecked, x : cube'clamped, step : vec2, pos : ivec2)
    p = int((pos+0.5).*step)
    for c = 0..size(y,2)-1
        y[pos[0],pos[1],c] = x[p[0],p[1],c]
    end
end

% Function: imresize
% An image scaled by a factor or to a size.
%
% Parameters:
% img - height x width or height x width x channels
% s - the factor, or [height, width] of the result
% method - "nearest", "box", "bilinear" ("triangle"), "bicubic" ("cubic"), "lanczos2" or "lanczos3"; all but "nearest"
%     average when the image shrinks. The default of MATLAB is "bicubic"
function y = imresize(img : cube, s, method : string = "bilinear")
    from = size(img, 0..1)
    assert(check_real(s) && (isscalar(s) && s > 0 || numel(s) == 2 && all(round(s) >= 1)) && all(s < inf), _
           "imresize: s must be a factor > 0 or [height, width], got ", check_got(s))
    check_filled("imresize: img", img)
    to = isscalar(s) ? max(1, ceil(s*from - 1e-6)) : round(s)
    if method == "nearest"
        y = size(img,2) == 1 ? uninit_like(img, to[0], to[1]) : uninit_like(img, to[0], to[1], size(img,2))
        parallel_do(to, y, img, from./to, imresize_nearest)
    else
        match method with
        | "box" -> k = 0
        | "bilinear" | "triangle" -> k = 1
        | "bicubic" | "cubic" -> k = 2
        | "lanczos2" -> k = 3
        | "lanczos3" -> k = 4
        | _ -> error("imresize: method must be nearest, box, bilinear, triangle, bicubic, cubic, lanczos2 or lanczos3, ",
                     "got ", method)
        end
        % Columns cost more than rows: they are computed for the smaller number of rows.
        if to[0] > from[0]
            y = imresize_side(imresize_side(img, to[1], k, 1), to[0], k, 0)
        else
            y = imresize_side(imresize_side(img, to[0], k, 0), to[1], k, 1)
        endif
    endif
end
