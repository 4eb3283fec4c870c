% Module: imresize.q
% Images of another size.

% Weight of a sample at distance t, for the methods "bilinear" (0) and "bicubic" (1, the cubic convolution with a = -1/2 of
% Keys, 1981).
function w = __device__ imresize_weight(t : scalar, cubic : int)
    a = abs(t)
    if cubic == 0
        w = a < 1 ? 1-a : 0.0
    elseif a < 1
        w = (1.5*a-2.5)*a*a+1
    elseif a < 2
        w = ((-0.5*a+2.5)*a-4)*a+2
    else
        w = 0.0
    endif
end

% One output row (dim 0) or column (dim 1): pixels are squares, so position p lies at (p+0.5)*step-0.5 of the input.  When
% the image shrinks the weights are as wide as the step, which keeps fine detail from turning into false patterns.
function [] = __kernel__ imresize_along(y : cube'unchecked, x : cube'clamped, dim : int, step : scalar, cubic : int, pos : ivec3)
    width = max(step, 1.0)
    reach = (cubic+1)*width
    at = (pos[dim]+0.5)*step-0.5
    total = 0.0
    sum_of_weights = 0.0
    for k = int(ceil(at-reach))..int(floor(at+reach))
        w = imresize_weight((k-at)/width, cubic)
        total += w*(dim == 0 ? x[k,pos[1],pos[2]] : x[pos[0],k,pos[2]])
        sum_of_weights += w
    end
    y[pos] = total/sum_of_weights
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
% method - "nearest", "bilinear" or "bicubic"; the last two average when the image shrinks
%
% :function y = imresize(img : cube, s, method : string = "bilinear")
function y = imresize(img : cube, s, method : string = "bilinear")
    from = size(img, 0..1)
    to = isscalar(s) ? max(1, ceil(s*from - 1e-6)) : round(s)
    assert(numel(to) == 2 && all(to >= 1), "imresize: s must be a factor > 0 or [height, width]")
    channels = size(img,2)
    step = from./to
    y = channels == 1 ? uninit(to[0], to[1]) : uninit(to[0], to[1], channels)
    if method == "nearest"
        parallel_do([to[0], to[1], channels], y, img, step, imresize_nearest)
    else
        assert(method == "bilinear" || method == "bicubic", "imresize: method must be nearest, bilinear or bicubic")
        cubic = method == "bicubic" ? 1 : 0
        rows = channels == 1 ? uninit(to[0], from[1]) : uninit(to[0], from[1], channels)
        parallel_do([to[0], from[1], channels], rows, img, 0, step[0], cubic, imresize_along)
        parallel_do([to[0], to[1], channels], y, rows, 1, step[1], cubic, imresize_along)
    endif
end
