% planes.q -- convolutions of neural layers (planes.c) as kernels, for devices with memory of their own.
%
%     in_planes images with the zeros around them that taps read, so that no read needs a test
%     gather    y[row, p] = bias[row] + sum over t of  w[row, t] * x[base(p) + off[t]]     outputs; gradients of inputs
%     dots      dw[row, t] = sum over images and p of  d[row, p] * x[base(p) + off[t]]     gradients of weights
%
% A position of `gather` computes eight rows (channels of the result) of four positions below each other, so that 12 numbers
% are read for 32 products; its neighbours in a warp have adjacent columns and read the same weights.  A position of
% `dots` computes eight rows of four taps over every n-th position, and `dots_sum` adds these partial sums.  For few
% rows, as in a depthwise convolution, single rows are computed.
%
% The gradient of an input at a stride is a gather for each remainder of its rows and columns, over the taps that meet it.
% planes.c calls planes_forward, planes_backward, planes_mended (after cuDNN), planes_weights and planes_bias.  It checks
% the sizes and computes the offsets of taps and the extents of padded planes, so that all indices are inside.  Rows are
% groups of channels of an image: N*groups x C/groups*H*W.

function [] = __kernel__ set_in_zeros(y : cube'unchecked, x : cube'safe, first : ivec2, pos : ivec3)
    y[pos] = x[pos[0], pos[1] - first[0], pos[2] - first[1]]
end

% Returns the planes with extents `s`, in which x begins at `first`, the length of their rows, and that of the planes.
function [planes, pitch, plane] = in_planes(x, first, s, groups)
    [n, c, h, w] = size(x, 0..3)
    if all(first == 0) && all(s == size(x, 2..3))
        planes = x
    else
        planes = uninit_like(x, n*c, s[0], s[1])
        parallel_do(size(planes, 0..2), planes, reshape(x, [n*c, h, w]), first, set_in_zeros)
    end
    planes = reshape(planes, [n*groups, c/groups*s[0]*s[1]])
    pitch = s[1]
    plane = s[0]*s[1]
end

% Computes the offset of the tap at channel pos[0], row pos[1] and column pos[2].
function [] = __kernel__ tap_places(off : vec[int]'unchecked, taps : ivec3, first : int, step : ivec3, pos : ivec3)
    off[(pos[0]*taps[1] + pos[1])*taps[2] + pos[2]] = first + pos[0]*step[0] + pos[1]*step[1] + pos[2]*step[2]
end

function off = places_of(taps, first, step)
    off = vec[int](max(4*ceil(prod(taps)/4), 1)) % whole tiles of `dots`
    parallel_do(taps, off, int(taps), int(first), int(step), tap_places)
end

% Packs the weights for gather: for each group and tile of 1 or 8 rows, taps x rows.  step: distances in w from group to
% group, row to row, channel to channel, and tap to tap down and across.
function [] = __kernel__ packed(p : cube'unchecked, w : vec'unchecked, rows : int, tiles : int, log : int, taps : ivec3, _
                                first : int, step : ivec4, across : int, pos : ivec3)
    at = first + pos[0]*step[0] + pos[1]*step[1] + pos[2]*step[2]
    to = pos[0]*tiles + shr(pos[1], log)
    for i = 0..taps[1]-1
        for j = 0..taps[2]-1
            k = (pos[2]*taps[1] + i)*taps[2] + j
            p[to, k, pos[1] - shl(shr(pos[1], log), log)] = pos[1] < rows ? w[at + i*step[3] + j*across] : 0
        end
    end
end

function [] = __kernel__ packed_bias(p : mat'unchecked, bias : vec'safe, rows : int, tiles : int, width : int, pos : ivec3)
    p[pos[0]*tiles + pos[1], pos[2]] = pos[1]*width + pos[2] < rows ? bias[pos[0]*rows + pos[1]*width + pos[2]] : 0
end

% places: number of rows of positions, and distances in x from row to row and from column to column.  to: position (i,
% j) computes row i*to[0] + to[2] and column j*to[1] + to[3] of the result; those outside are dropped.
function [] = __kernel__ gather_eight(y : cube'safe, x : mat'unchecked, w : cube'unchecked, off : vec[int]'unchecked, _
                                      bias : mat'unchecked, groups : int, rows : int, tiles : int, places : ivec3, _
                                      to : ivec4, pos : ivec4)
    tile = mod(pos[0], groups)*tiles + pos[1]
    first = 4*pos[2]
    column = pos[3]*places[2]
    p0 = column + first*places[1]
    p1 = column + min(first+1, places[0]-1)*places[1]
    p2 = column + min(first+2, places[0]-1)*places[1]
    p3 = column + min(first+3, places[0]-1)*places[1]
    s0 = bias[tile, 0..7]
    s1 = bias[tile, 0..7]
    s2 = bias[tile, 0..7]
    s3 = bias[tile, 0..7]
    for t = 0..size(w,1)-1
        k = off[t]
        f = w[tile, t, 0..7]
        s0 += f*x[pos[0], p0 + k]
        s1 += f*x[pos[0], p1 + k]
        s2 += f*x[pos[0], p2 + k]
        s3 += f*x[pos[0], p3 + k]
    end
    left = rows - 8*pos[1]
    row = pos[0]*rows + 8*pos[1]
    c = pos[3]*to[1] + to[3]
    for r = 0..7
        if r < left
            y[row + r, first*to[0] + to[2], c] = s0[r]
            if first + 1 < places[0]
                y[row + r, (first+1)*to[0] + to[2], c] = s1[r]
            end
            if first + 2 < places[0]
                y[row + r, (first+2)*to[0] + to[2], c] = s2[r]
            end
            if first + 3 < places[0]
                y[row + r, (first+3)*to[0] + to[2], c] = s3[r]
            end
        end
    end
end

function [] = __kernel__ gather_one(y : cube'safe, x : mat'unchecked, w : cube'unchecked, off : vec[int]'unchecked, _
                                    bias : mat'unchecked, groups : int, rows : int, tiles : int, places : ivec3, _
                                    to : ivec4, pos : ivec4)
    tile = mod(pos[0], groups)*tiles + pos[1]
    first = pos[2]*places[1] + pos[3]*places[2]
    total = bias[tile, 0]
    for t = 0..size(w,1)-1
        total += w[tile, t, 0]*x[pos[0], first + off[t]]
    end
    y[pos[0]*rows + pos[1], pos[2]*to[0] + to[2], pos[3]*to[1] + to[3]] = total
end

% The weights begin at `first`; places: rows and columns of positions, and their distances in x; out: planes of images.
function [] = gather(out, x, off, w, bias, groups, rows, taps, first, step, places, to)
    many = rows >= 4
    width = many ? 8 : 1
    tiles = ceil(rows/width)
    p = uninit_like(w, groups*tiles, prod(taps), width)
    parallel_do([groups, tiles*width, taps[0]], p, reshape(w, [1,numel(w)]), rows, tiles, many ? 3 : 0, int(taps), first, _
                int(step[0..3]), step[4], packed)
    b = uninit_like(w, groups*tiles, width)
    if isnull(bias)
        b[:,:] = 0
    else
        parallel_do([groups, tiles, width], b, reshape(bias, [1,numel(bias)]), rows, tiles, width, packed_bias)
    end
    size_of = [size(x,0), tiles, many ? ceil(places[0]/4) : places[0], places[1]]
    at = int([places[0], places[2], places[3]])
    if many
        parallel_do(size_of, out, x, p, off, b, groups, rows, tiles, at, int(to), gather_eight)
    else
        parallel_do(size_of, out, x, p, off, b, groups, rows, tiles, at, int(to), gather_one)
    end
end

% out: rows and columns of the result; around: extents of the padded planes.
function y = planes_forward(x, w, out, stride, pad, dilation, groups, around, bias)
    [m, c, kh, kw] = size(w, 0..3)
    [planes, pitch, plane] = in_planes(x, pad, around, groups)
    off = places_of([c, kh, kw], 0, [plane, dilation[0]*pitch, dilation[1]])
    y = uninit_like(x, size(x,0)*m, out[0], out[1])
    gather(y, planes, off, w, bias, groups, m/groups, [c, kh, kw], 0, [m/groups*c*kh*kw, c*kh*kw, kh*kw, kw, 1], _
           [out[0], out[1], stride[0]*pitch, stride[1]], [1, 1, 0, 0])
    y = reshape(y, [size(x,0), m, out[0], out[1]])
end

function [] = __kernel__ zeroed(x : cube'unchecked, pos : ivec3)
    x[pos] = 0
end

% s: size of x; far: reach of the taps, and width of the zeros around dy.  rows and columns list for each remainder by
% the stride: the number of its taps, the position of the first, their distance, and the first row (or column).
function dx = planes_backward(dy, w, s, stride, pad, dilation, groups, around, far, rows, columns)
    [m, c, kh, kw] = size(w, 0..3)
    out = size(dy, 2..3)
    [planes, pitch, plane] = in_planes(dy, far, around, groups)
    dx = uninit_like(dy, s[0]*s[1], s[2], s[3])
    if any(stride != 1)
        parallel_do(size(dx, 0..2), dx, zeroed)
    end
    phases = [size(rows,0), size(columns,0)]
    for i = 0..phases[0]-1
        [ny, py, ay, y] = rows[i, 0..3]
        for j = 0..phases[1]-1
            [nx, px, ax, x] = columns[j, 0..3]
            off = places_of([m/groups, ny, nx], (far[0]-py)*pitch + far[1]-px, [plane, -ay*pitch, -ax])
            gather(dx, planes, off, w, null, groups, c, [m/groups, ny, nx], i*kw + j, _
                   [m/groups*c*kh*kw, kh*kw, c*kh*kw, phases[0]*kw, phases[1]], [out[0]+far[0], out[1]+far[1], pitch, 1], _
                   [stride[0], stride[1], y, x])
        end
    end
    dx = planes_mended(dx, dy, w, s, stride, pad, dilation, groups)
end

function dx = planes_mended(dx, dy, w, s, stride, pad, dilation, groups)
    [m, c, kh, kw] = size(w, 0..3)
    parallel_do(size(dx, 0..2), dx, reshape(dy, [size(dy,0)*m, size(dy,2), size(dy,3)]), reshape(w, [1,numel(w)]), c, _
                m/groups, int([kh,kw]), int(stride), int(pad), int(dilation), groups, without_zeros)
    dx = reshape(dx, s)
end

% Where dx is nan because the padding was multiplied by a nonfinite number: computes the sum without the padding.
% sum_for_input of planes.c does the same for arrays in host memory; it adds in float64, which not every GPU has.
function [] = __kernel__ without_zeros(dx : cube'unchecked, dy : cube'unchecked, w : vec'unchecked, channels : int, _
                                       rows : int, kernel : ivec2, stride : ivec2, pad : ivec2, dilation : ivec2, _
                                       groups : int, pos : ivec3)
    v = dx[pos]
    if v != v
        channel = mod(pos[0], channels*groups)
        c = mod(channel, channels)
        group = int((channel - c)/channels)
        first = int((pos[0] - channel)/channels)*rows + group*rows % N*results: start of the results of the group
        total = 0.0
        for m = 0..rows-1
            for i = 0..kernel[0]-1
                for j = 0..kernel[1]-1
                    y = pos[1] + pad[0] - i*dilation[0]
                    x = pos[2] + pad[1] - j*dilation[1]
                    if y >= 0 && x >= 0 && mod(y, stride[0]) == 0 && mod(x, stride[1]) == 0
                        r = int(y/stride[0])
                        k = int(x/stride[1])
                        if r < size(dy,1) && k < size(dy,2)
                            total += dy[first + m, r, k]*w[(((group*rows + m)*channels + c)*kernel[0] + i)*kernel[1] + j]
                        end
                    end
                end
            end
        end
        dx[pos] = total
    end
end

function [] = __kernel__ bases(base : mat[int]'unchecked, step : ivec2, pos : ivec2)
    base[pos] = pos[0]*step[0] + pos[1]*step[1]
end

% d: rows x positions of each image; from: the first tile of taps; pos: tile of rows, tile of taps, and the share of
% images and of positions among `lanes`.
function [] = __kernel__ dots_eight(sums : cube'unchecked, d : mat'unchecked, x : mat'unchecked, off : vec[int]'unchecked, _
                                    base : vec[int]'unchecked, groups : int, rows : int, tiles : int, lanes : ivec2, _
                                    from : int, pos : ivec4)
    tile = mod(pos[0], tiles)
    group = int((pos[0] - tile)/tiles)
    n = numel(base)
    k = 4*pos[1]
    o0 = off[4*from + k]
    o1 = off[4*from + k+1]
    o2 = off[4*from + k+2]
    o3 = off[4*from + k+3]
    first = 8*tile
    r0 = first*n
    r1 = min(first+1, rows-1)*n
    r2 = min(first+2, rows-1)*n
    r3 = min(first+3, rows-1)*n
    r4 = min(first+4, rows-1)*n
    r5 = min(first+5, rows-1)*n
    r6 = min(first+6, rows-1)*n
    r7 = min(first+7, rows-1)*n
    s0 = zeros(8)
    s1 = zeros(8)
    s2 = zeros(8)
    s3 = zeros(8)
    images = int(size(x,0)/groups)
    for image = pos[2]..lanes[0]..images-1
        i = image*groups + group
        for p = pos[3]..lanes[1]..n-1
            b = base[p]
            f = [d[i,r0+p], d[i,r1+p], d[i,r2+p], d[i,r3+p], d[i,r4+p], d[i,r5+p], d[i,r6+p], d[i,r7+p]]
            s0 += f*x[i, b + o0]
            s1 += f*x[i, b + o1]
            s2 += f*x[i, b + o2]
            s3 += f*x[i, b + o3]
        end
    end
    lane = pos[2]*lanes[1] + pos[3]
    for r = 0..7
        sums[8*pos[0] + r, k, lane] = s0[r]
        sums[8*pos[0] + r, k+1, lane] = s1[r]
        sums[8*pos[0] + r, k+2, lane] = s2[r]
        sums[8*pos[0] + r, k+3, lane] = s3[r]
    end
end

function [] = __kernel__ dots_one(sums : cube'unchecked, d : mat'unchecked, x : mat'unchecked, off : vec[int]'unchecked, _
                                  base : vec[int]'unchecked, groups : int, rows : int, tiles : int, lanes : ivec2, _
                                  from : int, pos : ivec4)
    row = mod(pos[0], rows)
    group = int((pos[0] - row)/rows)
    n = numel(base)
    total = 0.0
    images = int(size(x,0)/groups)
    for image = pos[2]..lanes[0]..images-1
        i = image*groups + group
        for p = pos[3]..lanes[1]..n-1
            total += d[i, row*n + p]*x[i, base[p] + off[from + pos[1]]]
        end
    end
    sums[pos[0], pos[1], pos[2]*lanes[1] + pos[3]] = total
end

function [] = __kernel__ dots_sum(dw : mat'unchecked, sums : cube'unchecked, rows : int, stored : int, _
                                  from : int, pos : ivec2)
    row = mod(pos[0], rows)
    at = int((pos[0] - row)/rows)*stored + row
    total = 0.0
    for lane = 0..size(sums,2)-1
        total += sums[at, pos[1], lane]
    end
    dw[pos[0], from + pos[1]] = total
end

% s: size of w; around: extents of the padded planes; room: number of partial sums that fit into memory, or 0 for those
% of one tile of taps.  The result has the same bits for every value.
function dw = planes_weights(x, dy, s, stride, pad, dilation, groups, around, room)
    [m, c, kh, kw] = s
    out = size(dy, 2..3)
    [planes, pitch, plane] = in_planes(x, pad, around, groups)
    off = places_of([c, kh, kw], 0, [plane, dilation[0]*pitch, dilation[1]])
    base = uninit_like(off, out[0], out[1])
    parallel_do(out, base, int([stride[0]*pitch, stride[1]]), bases)
    rows = m/groups
    taps = c*kh*kw
    width = rows >= 4 ? 8 : 1
    tiles = ceil(rows/width)
    many = width == 8
    each = many ? 4 : 1
    across = ceil(taps/each)
    wanted = max(1, floor(32768/(groups*tiles*across)))
    lanes = [1, min(prod(out), min(max(64, wanted), 1024))]
    lanes[0] = max(1, min(size(x,0), floor(wanted/lanes[1])))
    some = max(1, min(across, floor(room/(groups*tiles*width*each*prod(lanes)))))
    sums = uninit_like(x, groups*tiles*width, some*each, prod(lanes))
    d = reshape(dy, [size(x,0)*groups, rows*prod(out)])
    b = reshape(base, [1, prod(out)])
    dw = uninit_like(x, m, taps)
    for from = 0..some..across-1
        size_of = [groups*tiles, min(some, across - from), lanes[0], lanes[1]]
        parallel_do(size_of, sums, d, planes, off, b, groups, rows, tiles, int(lanes), from, many ? dots_eight : dots_one)
        parallel_do([m, min(some*each, taps - from*each)], dw, sums, rows, tiles*width, from*each, dots_sum)
    end
    dw = reshape(dw, s)
end

% -- the gradient of a bias: repeated sums of at most 32 numbers -------------------------------------------------------

% Sums every lanes-th number of a row; in the result the sums of all images of a channel are in one row.
function [] = __kernel__ some_sums(part : mat'unchecked, x : mat'unchecked, lanes : int, pos : ivec2)
    total = 0.0
    for k = pos[1]..lanes..size(x,1)-1
        total += x[pos[0], k]
    end
    channel = mod(pos[0], size(part,0))
    part[channel, int((pos[0] - channel)/size(part,0))*lanes + pos[1]] = total
end

function db = planes_bias(dy)
    [n, c, h, w] = size(dy, 0..3)
    db = reshape(dy, [n*c, h*w])
    while any(size(db, 0..1) != [c, 1])
        lanes = ceil(size(db,1)/32)
        part = uninit_like(db, c, size(db,0)/c*lanes)
        parallel_do([size(db,0), lanes], part, db, lanes, some_sums)
        db = part
    end
    db = reshape(db, [1, c])
end

% The same on the processor, with sums in float64.
function db = sums_of_planes(dy)
    [n, c, h, w] = size(dy, 0..3)
    db = reshape(sum(sum(reshape(dy, [n, c, h*w]), 2), 0), [1, c])
end
