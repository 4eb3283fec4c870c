% Module: imresize.q
% Images of another size.

% Weight of a sample at distance t, for the methods "bilinear" (0) and "bicubic" (1, the cubic convolution with a = -1/2
% of Keys, 1981).
function w = __device__ imresize_weight(t, cubic : int)
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

% One output row (dim 0) or column (dim 1), which lies between samples first and first+1 of the input, at part of the way.
% When the image shrinks the weights are as wide as the step, which keeps fine detail from turning into false patterns.
function [] = __kernel__ imresize_along(y : cube'unchecked, x : cube'clamped, dim : int, first : vec[int]'unchecked, _
                                        part : vec'unchecked, width : scalar, cubic : int, pos : ivec3)
    at = part[pos[dim]]
    reach = (cubic+1)*width
    total = 0.0
    sum_of_weights = 0.0
    for k = int(ceil(at-reach))..int(floor(at+reach))
        w = imresize_weight((k-at)/width, cubic)
        n = first[pos[dim]]+k
        total += w*(dim == 0 ? x[n,pos[1],pos[2]] : x[pos[0],n,pos[2]])
        sum_of_weights += w
    end
    y[pos] = total/sum_of_weights
end

% Pixels are squares, so position p lies at (p+0.5)*step-0.5 of the input; computed in float64, or large images would
% come out uneven.
function y = imresize_lines(x : cube, dim : int, to, cubic : int)
    step = size(x,dim)/to
    at = (float64(0..to-1)+0.5)*step - 0.5
    s = size(x)
    s[dim] = to
    y = uninit_like(x, s)
    parallel_do(size(y, 0..2), y, x, dim, int(floor(at)), cast_like(at-floor(at), x), max(step,1), cubic, imresize_along)
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
    if method == "nearest"
        y = size(img,2) == 1 ? uninit_like(img, to[0], to[1]) : uninit_like(img, to[0], to[1], size(img,2))
        parallel_do(size(y, 0..2), y, img, from./to, imresize_nearest)
    else
        assert(method == "bilinear" || method == "bicubic", "imresize: method must be nearest, bilinear or bicubic")
        cubic = method == "bicubic" ? 1 : 0
        y = imresize_lines(imresize_lines(img, 0, to[0], cubic), 1, to[1], cubic)
    endif
end
