% Module: imcontrast.q
% The contrast of images. Grey values are 0 to 255, unless a range is given.
import "check.q"

function [] = check_range(what, range)
    assert(check_real(range) && numel(range) == 2 && all(isfinite(range)) && range[0] < range[1], _
           what, " must be [low, high] with low < high, got ", check_got(range))
end

% Function: stretchlim
% The grey values below and above which 1 % of the pixels lie, or other fractions: limits for imadjust.
function limits = stretchlim(img : cube, tolerance : vec = [0.01,0.99])
    check_filled("stretchlim: img", img)
    check_finite("stretchlim: img", img)
    check_range("stretchlim: tolerance", tolerance)
    assert(tolerance[0] >= 0 && tolerance[1] <= 1, "stretchlim: tolerance must be in [0,1], got ", tolerance)
    limits = quantile(float64(reshape(img, [1,numel(img)])), tolerance)
end

% Function: imadjust
% An image whose grey values from `from` are mapped to `to`, and clipped: to[0] + ((x-from[0])/(from[1]-from[0]))^gamma times
% to[1]-to[0].
%
% Parameters:
% img - height x width or height x width x channels
% from - [low, high]; [] is stretchlim(img)
% to - [low, high] of the result; low may be larger than high; [] is [0,255]
% gamma - less than 1 brightens, more than 1 darkens
function y = imadjust(img : cube, from = [], to : vec = [0,255], gamma : scalar = 1)
    to = isempty(to) ? [0,255] : to
    assert(isempty(from) || !(all(from >= 0 && from <= 1) && any(from != floor(from)) && any(img > 2)),
           "imadjust: from has grey values of img, not fractions of white: write 255*", from)
    limits = isempty(from) ? stretchlim(img) : from
    assert(numel(limits) == 2 && all(isfinite(limits)), "imadjust: from must be [low, high], got ", limits)
    if isempty(from) && limits[0] == limits[1]
        limits[1] = limits[0] + 1
    endif
    check_range("imadjust: from", limits)
    assert(numel(to) == 2, "imadjust: to must be [low, high], got ", to)
    assert(gamma > 0 && gamma < inf, "imadjust: gamma must be greater than 0 and finite, got ", gamma)
    t = saturate((img - limits[0])/(limits[1] - limits[0]))
    y = to[0] + (to[1] - to[0])*(gamma == 1 ? t : t.^gamma)
end

% Function: histeq
% An image whose grey values are equally frequent, by the cumulative histogram of n bins, as
% skimage.exposure.equalize_hist times peak.
%
% Parameters:
% img - an image; all channels have one histogram
% n - how many bins
% peak - the largest value of the result
function y = histeq(img : cube, n : int = 256, peak : scalar = 255)
    check_filled("histeq: img", img)
    check_finite("histeq: img", img)
    check_whole("histeq: n", n, 2)
    list = reshape(img, [1,numel(img)])
    [counts, edges] = histogram(list, n)
    below = cumsum(float64(counts))
    centers = (float64(edges[0..n-1]) + edges[1..n])/2
    level = interp1(centers, below/below[n-1], clamp(float64(list), centers[0], centers[n-1]))
    y = cast_like(reshape(peak*level, size(img)), img)
end

% Counts the grey levels of each tile, clips the counts, spreads the excess, and accumulates them.
function [] = __kernel__ clahe_tables(table : mat'unchecked, x : mat[int]'unchecked, tiles : ivec2, tile : ivec2, _
                                      limit : int, pos : int)
    counts = zeros(256)
    top = int(pos/tiles[1])*tile[0]
    left = mod(pos, tiles[1])*tile[1]
    for i = 0..tile[0]-1
        for j = 0..tile[1]-1
            counts[x[top+i,left+j]] += 1
        end
    end
    if limit > 0
        excess = 0
        for k = 0..255
            if counts[k] > limit
                excess += int(counts[k]) - limit
                counts[k] = limit
            endif
        end
        each = int(excess/256)
        rest = excess - 256*each
        for k = 0..255
            counts[k] += each
        end
        if rest > 0
            step = max(int(256/rest), 1)
            k = 0
            while k < 256 && rest > 0
                counts[k] += 1
                k += step
                rest -= 1
            end
        endif
    endif
    total = 0.0
    for k = 0..255
        total += counts[k]
        table[pos,k] = total/(tile[0]*tile[1])
    end
end

function [] = __kernel__ clahe_look_up(y : mat'unchecked, x : mat[int]'unchecked, table : mat'unchecked, tiles : ivec2, _
                                       tile : ivec2, pos : ivec2)
    u = (pos[0] + 0.0)/tile[0] - 0.5
    v = (pos[1] + 0.0)/tile[1] - 0.5
    i = int(floor(u))
    j = int(floor(v))
    a = u - i
    b = v - j
    top = clamp(i, 0, tiles[0]-1)*tiles[1]
    bottom = clamp(i+1, 0, tiles[0]-1)*tiles[1]
    left = clamp(j, 0, tiles[1]-1)
    right = clamp(j+1, 0, tiles[1]-1)
    g = x[pos]
    y[pos] = (1-a)*((1-b)*table[top+left,g] + b*table[top+right,g]) + a*((1-b)*table[bottom+left,g] + b*table[bottom+right,g])
end

% Function: adapthisteq
% Contrast-limited adaptive histogram equalisation: tiles have tables of their own with 256 levels, between which pixels
% interpolate. Source: Zuiderveld: Contrast limited adaptive histogram equalization (1994); as cv2.createCLAHE.
%
% Parameters:
% img - a grey image
% clip - a level of a tile may be this many times as frequent as the mean of all levels; inf is no limit
% tiles - how many tiles there are, [down, right]
% range - the grey values of levels 0 and 255, also of the result; null is [0,255]
function y = adapthisteq(img : mat, clip : scalar = 2, tiles : vec = [8,8], range = null)
    check_filled("adapthisteq: img", img)
    check_finite("adapthisteq: img", img)
    range = scale_of("adapthisteq: img", img, range, [0,255])
    check_range("adapthisteq: range", range)
    check_whole("adapthisteq: tiles", tiles, 1, 2)
    assert(clip > 0, "adapthisteq: clip must be greater than 0, got ", clip)
    [rows, columns] = size(img, 0..1)
    tile = ceil([rows, columns]./tiles)
    whole = tile.*tiles
    level = int(round(255*saturate((img - range[0])/(range[1] - range[0]))))
    padded = level[clahe_fold(rows, whole[0]), clahe_fold(columns, whole[1])]
    limit = clip == inf ? 0 : max(floor(clip*prod(tile)/256), 1)
    table = uninit_like(img, prod(tiles), 256)
    parallel_do(int(prod(tiles)), table, padded, int(tiles), int(tile), int(limit), clahe_tables)
    y = uninit_like(img)
    parallel_do([rows,columns], y, level, table, int(tiles), int(tile), clahe_look_up)
    y = range[0] + (range[1] - range[0])*y
end

% The indices 0 … to-1, mirrored at the last of n samples.
function k = clahe_fold(n, to)
    i = mod(0..to-1, max(2*n-2, 1))
    k = min(i, max(2*n-2, 1) - i)
    k = n == 1 ? zeros(to) : k
end
