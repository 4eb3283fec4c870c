% Module: imresize.q
% Images of another size.
import "imfilter.q" % programs rely on this import

% How far samples have a weight.
function r = imresize_reach(method)
    match method with
    | "box" -> r = 0.5
    | "bilinear" -> r = 1
    | "bicubic" | "lanczos2" -> r = 2
    | _ -> r = 3
    end
end

% Weights of samples at distances t. "bicubic" is the cubic convolution with a = -1/2 of Keys (1981).
function w = imresize_weights(t, method)
    a = abs(t)
    match method with
    | "box" -> w = float64(t > -0.5 && t <= 0.5)
    | "bilinear" -> w = max(1-a, 0)
    | "bicubic" ->
        w = (a < 1).*(((1.5*a-2.5).*a).*a+1) + (a >= 1 && a < 2).*(((-0.5*a+2.5).*a-4).*a+2)
    | _ ->
        r = imresize_reach(method)
        w = (a < r).*(sin(pi*a).*sin(pi*a/r) + eps)./(pi^2*a.^2/r + eps)
    end
end

% Computes row p of the result: the sum of weights[p,k] times row places[p,k] of x.
function [] = __kernel__ imresize_rows(y : cube'unchecked, x : cube'unchecked, places : mat[int]'unchecked, _
                                       weights : mat'unchecked, pos : ivec3)
    total = 0.0
    for k = 0..size(weights,1)-1
        total += weights[pos[0],k]*x[places[pos[0],k],pos[1],pos[2]]
    end
    y[pos] = total
end

% Pixels are squares, so position p is at (p+0.5)*step-0.5 of the input; computed in float64, because float32 would
% space the positions of large images unevenly.  When the image shrinks, the weights are as wide as the step, which
% prevents aliasing.
function y = imresize_height(x : cube, to, method)
    n = size(x,0)
    step = n/to
    width = max(step, 1)
    reach = ceil(imresize_reach(method)*width)
    at = transpose((float64(0..to-1)+0.5)*step - 0.5)
    places = floor(at) + float64(1-reach..reach)         % further samples have no weight
    weights = imresize_weights((places - at)/width, method)
    weights = weights./sum(weights, 1)
    y = imresize_weighted(x, clamp(places, 0, n-1), weights)
end

% Returns an image whose row p is the sum of weights[p,k] times row places[p,k] of x.
{!adjoint imresize_rule}
function y = imresize_weighted(x : cube, places, weights)
    s = size(x)
    s[0] = size(places,0)
    y = uninit_like(x, s)
    parallel_do(size(y, 0..2), y, x, int(places), cast_like(weights, x), imresize_rows)
end

% The adjoint has the transposed table: for each row of x the rows of y that it is part of.
function dx = imresize_rule(x, places, weights, y, dy)
    n = size(x,0)
    taps = size(places,1)
    [rows, order] = sort(reshape(places, [1,numel(places)]))
    counts = bincount(rows, n)
    most = max(counts)
    at = rows*most + (0..numel(rows)-1) - (cumsum(counts) - counts)[rows]
    back = zeros_like(counts, n*most)
    factors = zeros_like(counts, n*most)
    back[at] = floor(order/taps)
    factors[at] = reshape(weights, [1,numel(weights)])[order]
    back = reshape(back, [n,most])
    factors = reshape(factors, [n,most])
    dx = reshape(imresize_weighted(dy, where(factors == 0, back[:,0], back), factors), size(x))
end

function [] = __kernel__ imresize_nearest(y : cube'unchecked, x : cube'clamped, step : vec2, pos : ivec3)
    y[pos] = x[int((pos[0]+0.5)*step[0]), int((pos[1]+0.5)*step[1]), pos[2]]
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
        parallel_do(size(y, 0..2), y, img, from./to, imresize_nearest)
    else
        match method with
        | "triangle" -> method = "bilinear"
        | "cubic" -> method = "bicubic"
        | "box" | "bilinear" | "bicubic" | "lanczos2" | "lanczos3" -> method = method
        | _ -> error("imresize: method must be nearest, box, bilinear, triangle, bicubic, cubic, lanczos2 or lanczos3, ",
                     "got ", method)
        end
        y = transpose(imresize_height(transpose(imresize_height(img, to[0], method)), to[1], method))
    endif
end
