% Module: dnn.q
% Layers of neural networks with their derivatives, and optimisers: Quasar.DNN.dll.
%
% Images are N x C x H x W as in torch: how many, channels, rows, columns; weights of a convolution M x C/groups x KH x KW.
% Strides, paddings and their like are a number, or one for rows and one for columns.  Layers are functions of values and
% weights; `grad` and `value_and_grad` take the weights as one object or cell.  float64 stays float64.
import "check.q"

% Returns x in the type for computing: float64 is kept, everything else becomes float32.
function x = dnn_real(x)
    kind = type(zeros_like(x, 1))
    if kind != type(float64([0])) && kind != type(float32([0]))
        x = float32(x)
    end
end

% -- convolutions ------------------------------------------------------------------------------------------------------

% Function: conv2d
% The convolution of images with weights (not flipped, as in torch), and a bias for each result.
%
% Parameters:
% x - N x C x H x W
% w - M x C/groups x KH x KW
% b - M numbers, or null
% stride - steps between results
% padding - rows and columns of 0 around the image, or "same" for results as large as the image (stride 1, odd weights)
% dilation - steps between the elements that a weight reads
% groups - in how many parts channels and results fall that do not know each other
function y = conv2d(x, w, b = null, stride = 1, padding = 0, dilation = 1, groups = 1)
    if isstring(padding)
        assert(padding == "same" && all(stride == 1), "conv2d: padding must be numbers, or ""same"" with a stride of 1")
        reach = dilation.*(size(w, 2..3) - 1)
        assert(all(mod(reach, 2) == 0), "conv2d: padding ""same"" needs weights that reach equally far to both sides")
        padding = reach/2
    end
    y = conv_planes(x, w, stride, padding, dilation, groups, b)
end

% Function: depthwise_conv2d
% A convolution of each channel by itself.
%
% Parameters:
% w - M x 1 x KH x KW, where M is a multiple of the channels of x
function y = depthwise_conv2d(x, w, b = null, stride = 1, padding = 0, dilation = 1)
    y = conv2d(x, w, b, stride, padding, dilation, size(x,1))
end

% Function: conv_transpose2d
% The transposed convolution, which makes images larger: conv2d with the same arguments makes x from something of the size of y.
%
% Parameters:
% w - C x M/groups x KH x KW
% output_padding - rows and columns that y has in addition (below and to the right), less than the stride
function y = conv_transpose2d(x, w, b = null, stride = 1, padding = 0, output_padding = 0, dilation = 1, groups = 1)
    assert(all(output_padding >= 0) && all(output_padding < stride), _
           "conv_transpose2d: output_padding must be at least 0 and less than the stride")
    rest = (size(x, 2..3) - 1).*stride - 2*padding + dilation.*(size(w, 2..3) - 1) + output_padding + 1
    assert(size(x,1) == size(w,0), "conv_transpose2d: weights for ", size(w,0), " channels meet images of ", size(x,1))
    y = conv_planes_input(x, w, horzcat(size(x,0), size(w,1)*groups, rest), stride, padding, dilation, groups)
    if !isnull(b)
        y = plus_channels(y, b)
    end
end

% Adds a number to each channel.
function y = plus_channels(x, b)
    assert(numel(b) == size(x,1), "bias must have a number for each of ", size(x,1), " channels, got ", numel(b))
    y = x + reshape(b, [1,numel(b),1,1])
end

% -- pooling -----------------------------------------------------------------------------------------------------------

function [] = __kernel__ dnn_max(y : cube'unchecked, at : cube[int]'unchecked, x : cube'clamped, k : ivec2, s : ivec2, _
                                 p : ivec2, d : ivec2, pos : ivec3)
    top = pos[1]*s[0] - p[0]
    left = pos[2]*s[1] - p[1]
    best = -inf
    place = -1
    for i = 0..k[0]-1
        for j = 0..k[1]-1
            r = top + i*d[0]
            c = left + j*d[1]
            v = x[pos[0], r, c]
            if r >= 0 && r < size(x,1) && c >= 0 && c < size(x,2) && (v > best || v != v || place < 0)
                best = v
                place = r*size(x,2) + c
            end
        end
    end
    y[pos] = best
    at[pos] = place
end

% The same for adjacent 2 x 2 windows, which have a faster kernel; and its gradient.
function [] = __kernel__ dnn_max_of_four(y : cube'unchecked, at : cube[int]'unchecked, x : cube'unchecked, pos : ivec3)
    r = 2*pos[1]
    c = 2*pos[2]
    best = x[pos[0], r, c]
    place = 0
    for k = 1..3
        v = x[pos[0], r + shr(k,1), c + and(k,1)]
        better = v > best || v != v
        best = better ? v : best
        place = better ? k : place
    end
    y[pos] = best
    at[pos] = (r + shr(place,1))*size(x,2) + c + and(place,1)
end

function [] = __kernel__ dnn_back_to_four(dx : cube'unchecked, dy : cube'unchecked, at : cube[int]'unchecked, pos : ivec3)
    r = 2*pos[1]
    c = 2*pos[2]
    k = at[pos] - r*size(dx,2) - c
    dx[pos[0], r, c] = k == 0 ? dy[pos] : 0
    dx[pos[0], r, c+1] = k == 1 ? dy[pos] : 0
    dx[pos[0], r+1, c] = k == size(dx,2) ? dy[pos] : 0
    dx[pos[0], r+1, c+1] = k == size(dx,2) + 1 ? dy[pos] : 0
end

function y = dnn_in_fours(k, s, p, dilation)
    y = all(k == 2) && all(s == 2) && all(p == 0) && all(dilation == 1)
end

% Each element sums the gradients of the windows around it in which it is the maximum.
function [] = __kernel__ dnn_max_back(dx : cube'unchecked, dy : cube'clamped, at : cube[int]'clamped, s : ivec2, p : ivec2, _
                                      most : ivec2, pos : ivec3)
    row = (pos[1] + p[0])/s[0]
    column = (pos[2] + p[1])/s[1]
    total = 0.0
    for i = 0..most[0]-1
        for j = 0..most[1]-1
            r = int(row) - i
            c = int(column) - j
            mine = r >= 0 && r < size(dy,1) && c >= 0 && c < size(dy,2) && _
                   at[pos[0], r, c] == pos[1]*size(dx,2) + pos[2]
            total += mine ? dy[pos[0], r, c] : 0
        end
    end
    dx[pos] = total
end

function [] = __kernel__ dnn_mean(y : cube'unchecked, x : cube'safe, k : ivec2, s : ivec2, p : ivec2, pos : ivec3)
    total = 0.0
    for i = 0..k[0]-1
        for j = 0..k[1]-1
            total += x[pos[0], pos[1]*s[0] - p[0] + i, pos[2]*s[1] - p[1] + j]
        end
    end
    y[pos] = total/(k[0]*k[1])
end

function [] = __kernel__ dnn_mean_back(dx : cube'unchecked, dy : cube'safe, k : ivec2, s : ivec2, p : ivec2, most : ivec2, _
                                       pos : ivec3)
    total = 0.0
    for i = 0..most[0]-1
        for j = 0..most[1]-1
            r = int((pos[1] + p[0])/s[0]) - i
            c = int((pos[2] + p[1])/s[1]) - j
            reached = r*s[0] - p[0] + k[0] > pos[1] && c*s[1] - p[1] + k[1] > pos[2]
            total += reached ? dy[pos[0], r, c] : 0
        end
    end
    dx[pos] = total/(k[0]*k[1])
end

% Stacks the planes of all images.
function y = dnn_planes(x)
    y = reshape(x, [size(x,0)*size(x,1), size(x,2), size(x,3)])
end

function p = dnn_pair(what, x, least)
    good = isnumeric(x) && isreal(x) && numel(x) <= 2 && numel(x) > 0
    assert(good && all(x == floor(x)) && all(x >= least), _
           what, " must be an integer of at least ", least, ", or two of them, for rows and columns, got ", x)
    p = numel(x) == 2 ? [x[0], x[1]] : [1,1]*x
end

function [k, s, p, y] = dnn_windows(what, x, window, stride, padding, dilation)
    assert(ndims(x) <= 4, what, ": x must be N x C x H x W, got ", ndims(x), " dimensions")
    k = dnn_pair(strcat(what, ": window"), window, 1)
    s = isnull(stride) ? k : dnn_pair(strcat(what, ": stride"), stride, 1)
    p = dnn_pair(strcat(what, ": padding"), padding, 0)
    assert(all(2*p <= k), what, ": padding may be half the window at most")
    n = floor((size(x, 2..3) + 2*p - dilation.*(k-1) - 1)./s) + 1
    assert(all(n >= 1), what, ": a window of ", k, " does not fit ", size(x, 2..3))
    y = uninit_like(x, size(x,0), size(x,1), n[0], n[1])
end

{!adjoint dnn_max_rule}
function [y, at] = dnn_max_pool(x, window, stride, padding, dilation)
    [k, s, p, y] = dnn_windows("max_pool2d", x, window, stride, padding, dilation)
    planes = dnn_planes(y)
    at = cube[int](size(planes,0), size(planes,1), size(planes,2))
    if dnn_in_fours(k, s, p, dilation)
        parallel_do(size(planes, 0..2), planes, at, dnn_planes(x), dnn_max_of_four)
    else
        parallel_do(size(planes, 0..2), planes, at, dnn_planes(x), k, s, p, dilation, dnn_max)
    end
    y = reshape(planes, size(y, 0..3))
end

function dx = dnn_max_rule(x, window, stride, padding, dilation, y, at, dy, dat)
    [k, s, p] = dnn_windows("max_pool2d", x, window, stride, padding, dilation)
    planes = uninit_like(dy, size(x,0)*size(x,1), size(x,2), size(x,3))
    if dnn_in_fours(k, s, p, dilation)
        if any(mod(size(x, 2..3), 2) == 1)
            planes[:] = 0
        end
        parallel_do(size(at, 0..2), planes, dnn_planes(dy), at, dnn_back_to_four)
    else
        parallel_do(size(planes, 0..2), planes, dnn_planes(dy), at, s, p, ceil((dilation.*(k-1)+1)./s), dnn_max_back)
    end
    dx = reshape(planes, size(x, 0..3))
end

% Function: max_pool2d
% The largest element of each window; of equal ones the first has the derivative. A nan stays one.
function y = max_pool2d(x, window, stride = null, padding = 0, dilation = 1)
    [y, at] = dnn_max_pool(dnn_real(x), window, stride, padding, dnn_pair("max_pool2d: dilation", dilation, 1))
end

{!adjoint dnn_mean_rule}
function y = dnn_mean_pool(x, window, stride, padding)
    [k, s, p, y] = dnn_windows("avg_pool2d", x, window, stride, padding, [1,1])
    planes = dnn_planes(y)
    parallel_do(size(planes, 0..2), planes, dnn_planes(x), k, s, p, dnn_mean)
    y = reshape(planes, size(y, 0..3))
end

function dx = dnn_mean_rule(x, window, stride, padding, y, dy)
    [k, s, p] = dnn_windows("avg_pool2d", x, window, stride, padding, [1,1])
    planes = uninit_like(dy, size(x,0)*size(x,1), size(x,2), size(x,3))
    parallel_do(size(planes, 0..2), planes, dnn_planes(dy), k, s, p, ceil(k./s), dnn_mean_back)
    dx = reshape(planes, size(x, 0..3))
end

% Function: avg_pool2d
% The mean of each window; elements of the padding count as 0, as in torch.
function y = avg_pool2d(x, window, stride = null, padding = 0)
    y = dnn_mean_pool(dnn_real(x), window, stride, padding)
end

% Function: global_avg_pool2d
% The mean of each plane: N x C.
function y = global_avg_pool2d(x)
    y = reshape(mean(reshape(x, [size(x,0)*size(x,1), size(x,2)*size(x,3)]), 1), [size(x,0), size(x,1)])
end

% -- upsampling --------------------------------------------------------------------------------------------------------

% Row k of the result is (1-part) of row at[k] plus `part` of the next row; columns likewise.
function [] = __kernel__ dnn_mix(y : cube'unchecked, x : cube'clamped, at0 : vec[int]'unchecked, part0 : vec'unchecked, _
                                 at1 : vec[int]'unchecked, part1 : vec'unchecked, pos : ivec3)
    i = at0[pos[1]]
    j = at1[pos[2]]
    below = part0[pos[1]]
    right = part1[pos[2]]
    y[pos] = (1-below)*((1-right)*x[pos[0],i,j] + right*x[pos[0],i,j+1]) + _
             below*((1-right)*x[pos[0],i+1,j] + right*x[pos[0],i+1,j+1])
end

function [] = __kernel__ dnn_repeat(y : cube'unchecked, x : cube'unchecked, at0 : vec[int]'unchecked, _
                                    at1 : vec[int]'unchecked, pos : ivec3)
    y[pos] = x[pos[0], at0[pos[1]], at1[pos[2]]]
end

% w0[i,a]: weight of row i in row first0[i]+a of the result; rows with weight 0 are ignored, because they may be nan.
function [] = __kernel__ dnn_spread(dx : cube'unchecked, dy : cube'safe, first0 : vec[int]'unchecked, w0 : mat'unchecked, _
                                    first1 : vec[int]'unchecked, w1 : mat'unchecked, pos : ivec3)
    total = 0.0
    for a = 0..size(w0,1)-1
        line = 0.0
        for b = 0..size(w1,1)-1
            v = w1[pos[2],b]
            line += v == 0 ? 0 : v*dy[pos[0], first0[pos[1]] + a, first1[pos[2]] + b]
        end
        v = w0[pos[1],a]
        total += v == 0 ? 0 : v*line
    end
    dx[pos] = total
end

function [] = __kernel__ dnn_sum_of_four(dx : cube'unchecked, dy : cube'unchecked, pos : ivec3)
    r = 2*pos[1]
    c = 2*pos[2]
    dx[pos] = dy[pos[0],r,c] + dy[pos[0],r,c+1] + dy[pos[0],r+1,c] + dy[pos[0],r+1,c+1]
end

% Pixels are squares, so result k is at (k+0.5)/factor-0.5; beyond its edges the image is constant.
function [at, part] = dnn_places(to, factor, smooth, x)
    k = float64(0..to-1)
    place = smooth ? max((k + 0.5)/factor - 0.5, 0) : floor(k/factor)
    at = int(floor(place))
    part = cast_like(place - floor(place), x)
end

% Returns for each of n elements the first result that uses it, and its weights in that and the following results.
function [first, w] = dnn_reached(at, part, n)
    first = zeros(n) + numel(at)
    last = zeros(n)
    for k = 0..numel(at)-1
        for i = at[k]..min(at[k]+1, n-1)
            first[i] = min(first[i], k)
            last[i] = max(last[i], k)
        end
    end
    w = zeros_like(part, n, max(1, max(last - first) + 1))
    for k = 0..numel(at)-1
        w[at[k], k-first[at[k]]] += 1 - part[k]
        i = min(at[k]+1, n-1)
        w[i, k-first[i]] += part[k]
    end
    first = int(first)
end

{!adjoint dnn_upsample_rule}
function y = dnn_upsample(x, factor, smooth)
    to = floor(size(x, 2..3).*factor)
    planes = uninit_like(x, size(x,0)*size(x,1), to[0], to[1])
    [at0, part0] = dnn_places(to[0], factor[0], smooth, x)
    [at1, part1] = dnn_places(to[1], factor[1], smooth, x)
    if smooth
        parallel_do(size(planes, 0..2), planes, dnn_planes(x), at0, part0, at1, part1, dnn_mix)
    else
        parallel_do(size(planes, 0..2), planes, dnn_planes(x), at0, at1, dnn_repeat)
    end
    y = reshape(planes, [size(x,0), size(x,1), to[0], to[1]])
end

function dx = dnn_upsample_rule(x, factor, smooth, y, dy)
    dx = dnn_downsum(dy, size(x, 0..3), factor, smooth)
end

% The transpose of dnn_upsample, which is linear; s: the size of the image before enlarging.
{!adjoint dnn_downsum_rule}
function dx = dnn_downsum(dy, s, factor, smooth)
    planes = uninit_like(dy, s[0]*s[1], s[2], s[3])
    to = size(dy, 2..3)
    if !smooth && all(factor == 2)
        parallel_do(size(planes, 0..2), planes, dnn_planes(dy), dnn_sum_of_four)
    else
        [at0, part0] = dnn_places(to[0], factor[0], smooth, dy)
        [at1, part1] = dnn_places(to[1], factor[1], smooth, dy)
        [first0, w0] = dnn_reached(at0, part0, s[2])
        [first1, w1] = dnn_reached(at1, part1, s[3])
        parallel_do(size(planes, 0..2), planes, dnn_planes(dy), first0, w0, first1, w1, dnn_spread)
    end
    dx = reshape(planes, s)
end

function ddy = dnn_downsum_rule(dy, s, factor, smooth, dx, ddx)
    ddy = dnn_upsample(ddx, factor, smooth)
end

% Function: upsample
% Images enlarged by a factor, to floor(size*factor). Elements are squares (align_corners=False in torch).
%
% Parameters:
% factor - a number of at least 1, or one for rows and one for columns
% method - "nearest" or "bilinear"
function y = upsample(x, factor = 2, method : string = "nearest")
    assert(method == "nearest" || method == "bilinear", "upsample: method must be nearest or bilinear, got ", method)
    assert(numel(factor) <= 2 && numel(factor) > 0 && all(factor >= 1) && all(factor < inf), _
           "upsample: factor must be a number of at least 1, or two of them, for rows and columns, got ", factor)
    y = dnn_upsample(dnn_real(x), numel(factor) == 2 ? [factor[0], factor[1]] : float64([1,1])*factor, method == "bilinear")
end

% -- normalisation -----------------------------------------------------------------------------------------------------

function [] = __kernel__ dnn_affine(y : mat'unchecked, x : mat'unchecked, a : vec'unchecked, b : vec'unchecked, pos : ivec2)
    y[pos] = x[pos]*a[pos[0]] + b[pos[0]]
end

function [] = __kernel__ dnn_affine2(y : mat'unchecked, u : mat'unchecked, v : mat'unchecked, a : vec'unchecked, _
                                     b : vec'unchecked, c : vec'unchecked, m : vec'unchecked, pos : ivec2)
    y[pos] = u[pos]*a[pos[0]] + (v[pos] - m[pos[0]])*b[pos[0]] + c[pos[0]]
end

% Means over sets of planes (N x C), broadcast to all planes of a set: over images (groups 0), or channels of a group.
function m = dnn_over_sets(x, groups)
    if groups == 0
        m = mean(x, 0) + zeros_like(x)
    else
        rows = reshape(x, [size(x,0)*groups, size(x,1)/groups])
        m = reshape(mean(rows, 1) + zeros_like(rows), [size(x,0), size(x,1)])
    end
end

% x: N x C x L; gamma, beta: 1 x C.  Also returns mean and variance of the set of each plane, N x C.
{!adjoint dnn_normalised_rule}
function [y, centre, variance] = dnn_normalised(x, gamma, beta, groups, epsilon)
    [n, c, l] = size(x, 0..2)
    rows = reshape(x, [n*c, l])
    means = reshape(mean(rows, 1), [n,c])
    centre = dnn_over_sets(means, groups)
    variance = dnn_over_sets(reshape(var(rows, 1, 0), [n,c]) + (means - centre).^2, groups)
    a = gamma./sqrt(variance + epsilon)
    out = uninit_like(rows)
    parallel_do([n*c, l], out, rows, reshape(a, [1,n*c]), reshape(beta - centre.*a, [1,n*c]), dnn_affine)
    y = reshape(out, [n,c,l])
end

% dx = r*(dy*gamma - mean(dy*gamma) - xhat*mean(dy*gamma*xhat)), r = 1/sqrt(variance + epsilon), with means over sets;
% plus the gradients through mean and variance, whose derivatives are 1/l and 2*(x - mean)/l, distributed over sets.
function [dx, dgamma, dbeta] = dnn_normalised_rule(x, gamma, beta, groups, epsilon, y, centre, variance, dy, dm, dv)
    [n, c, l] = size(x, 0..2)
    rows = reshape(x, [n*c, l])
    drows = reshape(dy, [n*c, l])
    r = 1./sqrt(variance + epsilon)
    sums = reshape(sum(drows, 1), [n,c])
    products = reshape(sum(drows.*(rows - reshape(centre, [n*c,1])), 1), [n,c]).*r
    dbeta = sum(sums, 0)
    dgamma = sum(products, 0)
    constant = -r.*dnn_over_sets(sums.*gamma, groups)/l
    slope = -r.*r.*dnn_over_sets(products.*gamma, groups)/l
    if !isnull(dm)
        constant = constant + dnn_over_sets(dm, groups)/l
    end
    if !isnull(dv)
        slope = slope + 2*dnn_over_sets(dv, groups)/l
    end
    out = uninit_like(rows)
    parallel_do([n*c, l], out, drows, rows, reshape(r.*gamma, [1,n*c]), reshape(slope, [1,n*c]), _
                reshape(constant, [1,n*c]), reshape(centre, [1,n*c]), dnn_affine2)
    dx = reshape(out, [n,c,l])
end

function g = dnn_row(what, x, channels, otherwise, like)
    g = isnull(x) ? otherwise*ones_like(like, 1, channels) : reshape(x, [1,numel(x)])
    assert(numel(g) == channels, what, " must have a number for each of ", channels, " channels, got ", numel(g))
end

% Function: batch_norm
% Each channel with mean 0 and variance 1 over all images, then times gamma, plus beta. In training the statistics are
% those of x, and the running ones that are returned move towards them; else they are the running ones.
%
% Parameters:
% x - N x C, N x C x L or N x C x H x W
% gamma - C numbers, or null for 1
% beta - C numbers, or null for 0
% running_mean - C numbers, or null
% running_var - C numbers (a variance divided by n-1, as in torch), or null
% training - false: the running statistics are used
function [y, running_mean, running_var] = batch_norm(x, gamma = null, beta = null, running_mean = null, _
        running_var = null, training = true, momentum : scalar = 0.1, epsilon : scalar = 1e-5)
    x = dnn_real(x)
    [n, c] = size(x, 0..1)
    l = numel(x)/max(n*c, 1)
    gamma = dnn_row("batch_norm: gamma", gamma, c, 1, x)
    beta = dnn_row("batch_norm: beta", beta, c, 0, x)
    if training
        assert(n*l > 1, "batch_norm: in training a channel needs more than one element")
        [y, centre, variance] = dnn_normalised(reshape(x, [n,c,l]), gamma, beta, 0, epsilon)
        y = reshape(y, size(x))
        if !isnull(running_mean)
            running_mean = running_mean + momentum*(reshape(centre[0,:], size(running_mean)) - running_mean)
        end
        if !isnull(running_var)
            running_var = running_var + momentum*(reshape(variance[0,:], size(running_var))*(n*l/(n*l-1)) - running_var)
        end
    else
        assert(!isnull(running_mean) && !isnull(running_var), "batch_norm: without training it needs running_mean and running_var")
        a = gamma./sqrt(cast_like(reshape(running_var, [1,c]), x) + epsilon)
        b = beta - cast_like(reshape(running_mean, [1,c]), x).*a
        y = reshape(reshape(x, [n,c,l]).*reshape(a, [1,c,1]) + reshape(b, [1,c,1]), size(x))
    end
end

% Function: group_norm
% The channels of each image in groups; each group with mean 0 and variance 1, then each channel times gamma, plus beta.
% With as many groups as channels it is instance_norm.
function y = group_norm(x, groups : int, gamma = null, beta = null, epsilon : scalar = 1e-5)
    x = dnn_real(x)
    [n, c] = size(x, 0..1)
    assert(groups >= 1 && mod(c, groups) == 0, "group_norm: ", c, " channels do not make ", groups, " equal groups")
    gamma = dnn_row("group_norm: gamma", gamma, c, 1, x)
    beta = dnn_row("group_norm: beta", beta, c, 0, x)
    [y, m, v] = dnn_normalised(reshape(x, [n, c, numel(x)/max(n*c, 1)]), gamma, beta, groups, epsilon)
    y = reshape(y, size(x))
end

% Function: instance_norm
% Each plane with mean 0 and variance 1, then times gamma, plus beta, of its channel.
function y = instance_norm(x, gamma = null, beta = null, epsilon : scalar = 1e-5)
    y = group_norm(x, size(x,1), gamma, beta, epsilon)
end

% Function: layer_norm
% Each row with mean 0 and variance 1, then times gamma, plus beta, element by element. A row is what the last dimensions
% hold, of which there are as many as `count` says; those that x was made with count, also those of 1 at the end.
function y = layer_norm(x, gamma = null, beta = null, count : int = 1, epsilon : scalar = 1e-5)
    x = dnn_real(x)
    n = ndims(x, true)
    assert(count >= 1 && count < n, "layer_norm: x has ", n, " dimensions, of which 1 to ", n-1, _
           " may be normalised, got ", count)
    l = prod(size(x, n-count..n-1))
    one = ones_like(x, 1, 1)
    [y, m, v] = dnn_normalised(reshape(x, [numel(x)/max(l, 1), 1, l]), one, 0*one, 1, epsilon)
    y = reshape(y, [numel(x)/max(l, 1), l])
    if !isnull(gamma)
        y = y.*dnn_row("layer_norm: gamma", gamma, l, 1, x)
    end
    if !isnull(beta)
        y = y + dnn_row("layer_norm: beta", beta, l, 0, x)
    end
    y = reshape(y, size(x))
end

% -- elementwise functions ---------------------------------------------------------------------------------------------
% tanh is a built-in.

% Function: relu
% The positive part; its derivative at 0 is 0.
function y = relu(x)
    y = x <= 0 ? 0 : x
end

% Function: leaky_relu
function y = leaky_relu(x, slope : scalar = 0.01)
    y = x > 0 ? x : slope*x
end

% Function: elu
% x, and alpha*(exp(x)-1) where it is negative.
function y = elu(x, alpha : scalar = 1)
    y = x > 0 ? x : alpha*expm1(x > 0 ? 0 : x) % avoids min(x, 0), which is 0 for nan
end

% Function: sigmoid
function y = sigmoid(x)
    e = exp(min(x, 1)) % used for x < 0 only; clamped at 1, away from the bend at 0
    y = x < 0 ? e./(1 + e) : 1./(1 + exp(x < -1 ? 1 : -x)) % nan is preserved
end

% Function: silu
% x*sigmoid(x), also called swish.
function y = silu(x)
    y = x.*sigmoid(x)
end

% Function: gelu
% x times the probability that a normal number is less than x: by erf, or by tanh where approximate is true.
function y = gelu(x, approximate = false)
    if approximate
        y = 0.5*x.*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x.^3)))
    else
        y = 0.5*x.*(1 + erf(x*sqrt(0.5)))
    end
end

% Function: softplus
% log(1+exp(x)), without overflow.
function y = softplus(x)
    y = max(x, 0) + log1p(exp(-abs(x)))
end

function d = dnn_dimension(what, x, dim)
    n = ndims(x, true)
    assert(dim >= -n && dim < n, what, ": x has the dimensions 0 to ", n-1, ", or -1 for the last, got dim ", dim)
    d = mod(dim, n)
end

% Function: softmax
% exp(x) divided by its sum along a dimension; for N x C and N x C x H x W dimension 1 are the classes; -1 is the last one,
% in which a vec, a row, has its elements.
function y = softmax(x, dim : int = 1)
    dim = dnn_dimension("softmax", x, dim)
    e = exp(x - stop_gradient(max(x, [], dim)))
    y = e./sum(e, dim)
end

% Function: log_softmax
% The logarithm of softmax, without overflow.
function y = log_softmax(x, dim : int = 1)
    dim = dnn_dimension("log_softmax", x, dim)
    z = x - stop_gradient(max(x, [], dim))
    y = z - log(sum(exp(z), dim))
end

% Function: dropout
% In training each element is 0 with the probability p, and the others grow by 1/(1-p); else x.
function y = dropout(x, p : scalar = 0.5, training = true)
    assert(p >= 0 && p < 1, "dropout: p must be at least 0 and less than 1, got ", p)
    x = dnn_real(x)
    if training && p > 0
        y = x.*cast_like((rand(size(x)) >= p)*(1/(1-p)), x)
    else
        y = x
    end
end

% Checks for integers from 0 to below `count`.
function [] = dnn_whole(what, x, count)
    x = reshape(x, [1,numel(x)])
    good = x == floor(x) && x >= 0 && x < count
    if !all(good)
        wrong = x[!good]
        error(what, " must be integers from 0 to ", count-1, ", got ", wrong[0])
    end
end

% -- losses ------------------------------------------------------------------------------------------------------------

% Function: mse_loss
% The mean of the squared differences.
function e = mse_loss(x, target)
    check_alike("mse_loss: x and target", x, target)
    e = mean((x - target).^2)
end

% Function: l1_loss
% The mean of the absolute differences.
function e = l1_loss(x, target)
    check_alike("l1_loss: x and target", x, target)
    e = mean(abs(x - target))
end

% Function: cross_entropy
% The mean of -log(probability of the true class), where softmax makes probabilities of x.
%
% Parameters:
% x - N x C, or N x C x H x W
% labels - the classes, integers from 0: N, or N x H x W
% smoothing - this part of the probability is shared by all classes
% ignore_index - elements with this label are left out of the mean
function e = cross_entropy(x, labels, smoothing : scalar = 0, ignore_index : scalar = -100)
    classes = size(x,1)
    s = float64(size(x))
    s[1] = 1
    assert(numel(labels) == prod(s) && (numel(s) == 2 || isequal(size(labels), s[horzcat(0, 2..numel(s)-1)])), _
           "cross_entropy: for x of size ", size(x), " there must be a label for each element of a class, got ", size(labels))
    counted = labels != ignore_index
    dnn_whole("cross_entropy: labels", counted ? labels : 0, classes)
    n = sum(counted)
    logs = log_softmax(x, 1)
    wanted = reshape(labels, s) == reshape(0..classes-1, [1,classes])
    if ignore_index >= 0
        wanted = wanted && reshape(counted, s)
    end
    e = -(1-smoothing)*sum(wanted ? logs : 0)/n % a class with probability 0 that is not the target adds nothing
    if smoothing > 0
        e = e - smoothing/classes*sum(reshape(counted, s) ? logs : 0)/n
    end
end

% -- linear layers, embedding, attention -------------------------------------------------------------------------------

% Function: linear
% x*transpose(w) + b.
%
% Parameters:
% x - N x D (or more dimensions, of which the last is D)
% w - M x D
% b - M numbers, or null
function y = linear(x, w, b = null)
    s = float64(size(x, 0..ndims(x, true)-1))
    d = s[numel(s)-1]
    assert(size(w,1) == d, "linear: w of size ", size(w, 0..1), " (results x inputs) is for rows of ", size(w,1), _
           " numbers, those of x have ", d)
    assert(isnull(b) || numel(b) == size(w,0), "linear: b must have a number for each of ", size(w,0), " results, got ", numel(b))
    y = reshape(x, [numel(x)/max(d, 1), d])*transpose(w)
    if !isnull(b)
        y = y + reshape(b, [1,numel(b)])
    end
    s[numel(s)-1] = size(w,0)
    y = reshape(y, s)
end

function [] = __kernel__ dnn_lookup(y : mat'unchecked, table : mat'unchecked, ids : vec[int]'unchecked, pos : ivec2)
    y[pos] = table[ids[pos[0]], pos[1]]
end

% One position for each column of the table, so that no two positions add to the same element.
function [] = __kernel__ dnn_lookup_back(dtable : mat'unchecked, dy : mat'unchecked, ids : vec[int]'unchecked, pos : int)
    for k = 0..numel(ids)-1
        dtable[ids[k], pos] = dtable[ids[k], pos] + dy[k, pos]
    end
end

{!adjoint dnn_embedding_rule}
function y = dnn_embedding(table, ids)
    y = uninit_like(table, numel(ids), size(table,1))
    parallel_do(size(y, 0..1), y, table, ids, dnn_lookup)
end

function dtable = dnn_embedding_rule(table, ids, y, dy)
    dtable = zeros_like(dy, size(table,0), size(table,1))
    parallel_do(size(table,1), dtable, dy, ids, dnn_lookup_back)
end

% Function: embedding
% Rows of a table: N x D for a vector of ids, else the dimensions of ids, then D.
%
% Parameters:
% table - V x D
% ids - integers from 0 to V-1
function y = embedding(table, ids)
    dnn_whole("embedding: ids", ids, size(table,0))
    y = dnn_embedding(table, reshape(int(ids), [1,numel(ids)]))
    if ndims(ids) > 2 || size(ids,0) != 1
        y = reshape(y, horzcat(size(ids), size(table,1)))
    end
end

% Function: batch_matmul
% The matrix products of the last two of four dimensions.
function y = batch_matmul(a, b)
    [n, h, l, k] = size(a, 0..3)
    assert(isequal(size(b, 0..2), [n,h,k]), "batch_matmul: the sizes ", size(a, 0..3), " and ", size(b, 0..3), " do not fit")
    m = size(b,3)
    y = conv_planes(reshape(b, [1,n*h*k,1,m]), reshape(a, [n*h*l,k,1,1]), 1, 0, 1, n*h)
    y = reshape(y, [n,h,l,m])
end

% Function: attention
% softmax(q*transpose(k)/sqrt(E) + mask)*v, for all images and heads.
%
% Parameters:
% q - B x H x L x E
% k - B x H x S x E
% v - B x H x S x F
% mask - null, or what is added before softmax: L x S, or a size that stretches to B x H x L x S (-inf: not looked at); one of
%   two dimensions (ndims) is L x S. Of truth values, as comparisons give them, true is looked at and false is not
% causal - true: row i looks at the columns 0 to i
function y = attention(q, k, v, mask = null, causal = false)
    assert(ndims(q, true) == 4 && ndims(k, true) == 4 && ndims(v, true) == 4, _
           "attention: q, k and v must have four dimensions (images x heads x rows x columns), got ", ndims(q, true), ", ", _
           ndims(k, true), " and ", ndims(v, true))
    [b, h, n, e] = size(k, 0..3)
    assert(isequal(size(q, horzcat(0..1, 3)), [b,h,e]), "attention: q of size ", size(q, 0..3), " and k of size ", _
           size(k, 0..3), " must agree but in their rows")
    assert(isequal(size(v, 0..2), [b,h,n]), "attention: v of size ", size(v, 0..3), " and k of size ", size(k, 0..3), _
           " must agree but in their columns")
    transposed = reshape(permute(reshape(k, [b*h,n,e]), [0,2,1]), [b,h,e,n])
    scores = batch_matmul(q, transposed)/sqrt(e)
    [l, s] = size(scores, 2..3)
    if !isnull(mask)
        mask = isbool(mask) ? where(mask, 0, -inf) : mask
        mask = ndims(mask) == 2 ? reshape(mask, [1,1,size(mask,0),size(mask,1)]) : mask
        fits = size(mask, 0..3) == 1 || size(mask, 0..3) == [b,h,l,s]
        assert(ndims(mask) <= 4 && all(fits), "attention: mask must stretch to ", [b,h,l,s], ", got ", size(mask))
        scores = scores + mask
    end
    if causal
        later = reshape(0..s-1, [1,1,1,s]) > reshape(0..l-1, [1,1,l,1])
        scores = later ? -inf : scores
    end
    y = batch_matmul(softmax(scores, 3), v)
end

% -- optimisers --------------------------------------------------------------------------------------------------------

function [] = dnn_setting(what, x, top)
    assert(isnumeric(x) && isreal(x) && numel(x) == 1 && x >= 0 && x < top, what, " must be ", _
           top == inf ? "a finite number of at least 0" : "at least 0 and less than 1", ", got ", x)
end

% Applies step(w, g, state) to each array and number in a tree of cells and objects, whose states form an equal tree.
% Values without a gradient and their states are unchanged.
function [w, state] = dnn_each(what, w, g, state, step)
    given = !isnull(g)
    if given && isobject(w)
        assert(isobject(g), what, ": w is an object, g must be one with the same fields, got ", type(g))
        assert(isnull(state) || isobject(state), what, ": state must be what the last call gave, got ", type(state))
        names = fieldnames(w)
        [from, before] = {w, state}
        w = object()
        state = object()
        for i = 0..numel(names)-1
            old = isnull(before) ? null : getfield(before, names[i])
            [x, s] = dnn_each(what, getfield(from, names[i]), getfield(g, names[i]), old, step)
            setfield(w, names[i], x)
            setfield(state, names[i], s)
        end
    elseif given && iscell(w)
        assert(isnull(state) || iscell(state), what, ": state must be what the last call gave, got ", type(state))
        assert(iscell(g) && numel(g) == numel(w), what, ": w is a cell of ", numel(w), ", g must be one, too, got ", type(g))
        [from, before] = {w, state}
        w = cell(numel(from))
        state = cell(numel(from))
        for i = 0..numel(from)-1
            [x, s] = dnn_each(what, from[i], g[i], isnull(before) ? null : before[i], step)
            w[i] = x
            state[i] = s
        end
    elseif given
        assert(isnumeric(g) && isequal(size(w), size(g)), what, ": weights of size ", size(w), _
               " have a gradient of that size, got ", isnumeric(g) ? size(g) : type(g))
        [w, state] = step(w, g, state)
    end
end

% Function: sgd
% A step of gradient descent. The weights are an array, or a cell or object of them; the state is null at first.
%
% Parameters:
% w - weights
% g - the gradient, of the same form
% state - what the last call gave
% rate - length of the step
% momentum - what of the last step is taken again
% decay - what of the weights is added to the gradient
function [w, state] = sgd(w, g, state = null, rate : scalar = 0.01, momentum : scalar = 0, decay : scalar = 0)
    dnn_setting("sgd: rate", rate, inf)
    dnn_setting("sgd: momentum", momentum, inf)
    dnn_setting("sgd: decay", decay, inf)
    function [x, m] = step(x, dx, m)
        d = dx + decay*x
        if momentum != 0
            m = isnull(m) ? d : momentum*m + d
            d = m
        end
        x = x - rate*d
    end
    [w, state] = dnn_each("sgd", w, g, state, step)
end

% Function: adam
% A step of Adam (Kingma, Ba: arXiv:1412.6980), with the decay of weights apart from the gradient (AdamW).
%
% Parameters:
% w - weights: an array, or a cell or object of them
% g - the gradient, of the same form
% state - what the last call gave, null at first
function [w, state] = adam(w, g, state = null, rate : scalar = 0.001, beta1 : scalar = 0.9, beta2 : scalar = 0.999, _
                           epsilon : scalar = 1e-8, decay : scalar = 0)
    dnn_setting("adam: rate", rate, inf)
    dnn_setting("adam: beta1", beta1, 1)
    dnn_setting("adam: beta2", beta2, 1)
    dnn_setting("adam: epsilon", epsilon, inf)
    dnn_setting("adam: decay", decay, inf)
    function [x, s] = step(x, dx, s)
        assert(isnull(s) || (iscell(s) && numel(s) == 3), "adam: state must be what the last call gave, got ", type(s))
        [turn, m, v] = isnull(s) ? {0, 0*dx, 0*dx} : s
        turn = turn + 1
        m = beta1*m + (1-beta1)*dx
        v = beta2*v + (1-beta2)*dx.^2
        scale1 = 1/(1 - beta1^turn)
        scale2 = 1/(1 - beta2^turn)
        x = (1 - rate*decay)*x - rate*(scale1*m)./(sqrt(scale2*v) + epsilon)
        s = {turn, m, v}
    end
    [w, state] = dnn_each("adam", w, g, state, step)
end

% Function: he_normal
% Weights for layers that relu follows: normal numbers with the variance 2/(inputs of a result) (He et al., arXiv:1502.01852).
%
% Parameters:
% s - the size: M x C x KH x KW, or M x D
function w = he_normal(s)
    assert(numel(s) >= 2 && all(s > 0), "he_normal: s must be the size of weights, [M,D] or [M,C,KH,KW], got ", s)
    w = sqrt(2*s[0]/prod(s))*randn(s)
end
