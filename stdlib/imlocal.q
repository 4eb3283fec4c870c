% Module: imlocal.q
% Filters that look at the pixels of a window one by one, blocks of images, and positions in images. Outside of an image,
% pixels are mirrored (b a | a b c) unless something else is said.
import "imfilter.q"
import "matfun.q"
import "boxfilter.q"

% Finds the value of rank k (0 is the smallest) among the pixels under the domain, which lists offsets: for every pixel it
% is the smallest value that more than k pixels do not exceed. x has a border, because the compiler does not know the extent
% of the window and would test every index.  nan is larger than every number.
function [] = __kernel__ rank_window(y : mat'unchecked, x : mat'unchecked, offsets : mat[int]'unchecked, k : int, pos : ivec2)
    n = size(offsets,0)
    best = inf
    found = false
    for i = 0..n-1
        v = x[pos[0]+offsets[i,0], pos[1]+offsets[i,1]]
        below = 0
        for j = 0..n-1
            below += x[pos[0]+offsets[j,0], pos[1]+offsets[j,1]] <= v ? 1 : 0
        end
        best = below > k ? min(best, v) : best
        found = found || below > k
    end
    y[pos] = found ? best : nan
end

function offsets = window_offsets(what, domain)
    check_filled(strcat(what, ": domain"), domain)
    at = find(domain)
    assert(size(at,0) > 0, what, ": domain must have elements other than 0")
    offsets = int(at - floor((size(domain, 0..1))/2))
end

% Function: ordfilt2, rank_filter
% Every pixel becomes the pixel of a rank among those under a domain, as scipy.ndimage.rank_filter. For the smallest and
% largest one see imerode and imdilate, for the middle one immedfilt.
%
% Parameters:
% x - a grey image
% order - 0 for the smallest; negative numbers count from the largest, -1. (MATLAB's ordfilt2 counts from 1.)
% domain - which neighbours count: elements that are not 0; element floor(size/2) lies on the pixel
function y = ordfilt2(x : mat, order : int, domain : mat = ones(3,3))
    offsets = window_offsets("ordfilt2", domain)
    n = size(offsets,0)
    assert(order >= -n && order < n, "ordfilt2: order must be less than the number of elements of domain, ", n, ", got ", order)
    y = uninit_like(x)
    r = int(max(abs(offsets), [], 0))
    parallel_do(size(x), y, bound_extension(x, r[0], r[1]), int(offsets + r), order < 0 ? int(order+n) : order, rank_window)
end

function y = rank_filter(x : mat, order : int, domain : mat = ones(3,3))
    y = ordfilt2(x, order, domain)
end

% The extent of a window; MATLAB gives it as a matrix of ones.
function s = window_extent(what, s)
    if isnumeric(s) && (size(s,0) > 1 || numel(s) > 2)
        assert(all(s == 1), what, ": s must be [height, width] of the window; ordfilt2 takes masks")
        s = size(s, 0..1)
    endif
end

% The radius [down, right] of a window of s pixels, or [height, width].
function r = window_radius(what, s)
    n = isscalar(s) ? [s,s] : s
    check_whole(strcat(what, ": s"), n, 1, 2)
    assert(all(mod(n, 2) == 1), what, ": s must be odd, got ", s)
    r = int((n-1)/2)
end

function [] = __kernel__ mean_right(y : cube'unchecked, x : cube'unchecked, n : int, pos : ivec3)
    s = 0.0
    for k = 0..n-1
        s += x[pos[0],pos[1]+k,pos[2]]
    end
    y[pos] = s/n
end

function [] = __kernel__ mean_down(y : cube'unchecked, x : cube'unchecked, n : int, pos : ivec3)
    s = 0.0
    for k = 0..n-1
        s += x[pos[0]+k,pos[1],pos[2]]
    end
    y[pos] = s/n
end

% The mean of windows of radius r = [down, right]. A window that is larger than the image is folded by imfilter.
function y = window_mean(what, x, r, boundary)
    if all(r <= size(x, 0..1))
        framed = window_frame(what, x, r[0], r[1], boundary)
        rows = uninit_like(framed, size(framed,0), size(x,1), size(x,2))
        parallel_do(size(rows, 0..2), rows, framed, 2*r[1]+1, mean_right)
        y = uninit_like(x)
        parallel_do(size(x, 0..2), y, rows, 2*r[0]+1, mean_down)
    else
        line = n -> float64(ones(1,n))/n
        y = imfilter(imfilter(x, line(2*r[1]+1), [], boundary), transpose(line(2*r[0]+1)), [], boundary)
    endif
end

function [] = __kernel__ moments_right(m : mat'unchecked, q : mat'unchecked, x : mat'unchecked, n : int, pos : ivec2)
    s = 0.0
    squares = 0.0
    for k = 0..n-1
        v = x[pos[0],pos[1]+k]
        s += v
        squares += v*v
    end
    m[pos] = s/n
    q[pos] = squares/n
end

% The mean and the variance (divided by n) of such windows. The mean of the image is near 0.
function [m, v] = window_moments(what, x, r, boundary)
    if all(r <= size(x, 0..1))
        framed = window_frame(what, x, r[0], r[1], boundary)
        [a, b] = {uninit_like(framed, size(framed,0), size(x,1)), uninit_like(framed, size(framed,0), size(x,1))}
        parallel_do(size(a), a, b, framed, 2*r[1]+1, moments_right)
        [m, q] = {uninit_like(x), uninit_like(x)}
        parallel_do(size(x, 0..2), m, a, 2*r[0]+1, mean_down)
        parallel_do(size(x, 0..2), q, b, 2*r[0]+1, mean_down)
    else
        [m, q] = {window_mean(what, x, r, boundary), window_mean(what, x.^2, r, boundary)}
    endif
    v = max(q - m.^2, 0)
end

% Function: uniform_filter
% The mean of the s pixels around every pixel, s odd or [height, width]; as scipy.ndimage.uniform_filter.
function y = uniform_filter(x : cube, s = 3)
    y = window_mean("uniform_filter", x, window_radius("uniform_filter", s), "mirror")
end

% Function: stdfilt, rangefilt
% The standard deviation (divided by n-1) and the difference of the largest and smallest pixel in a window around every
% pixel; s is odd, or [height, width].
function y = stdfilt(x : mat, s = 3)
    s = window_extent("stdfilt", s)
    n = isscalar(s) ? s*s : prod(s)
    [_, v] = window_moments("stdfilt", float64(x) - mean(x), window_radius("stdfilt", s), "mirror")
    y = cast_like(sqrt(v*(n/max(n-1, 1))), x)
end

function y = rangefilt(x : mat, s = 3)
    s = window_extent("rangefilt", s)
    n = isscalar(s) ? [s,s] : s
    check_whole("rangefilt: s", n, 1, 2)
    domain = ones(n)
    y = ordfilt2(x, -1, domain) - ordfilt2(x, 0, domain)
end

% Function: wiener2
% Removes noise where the image is smooth: each pixel moves toward the mean of its window the more, the less the window varies
% beyond the noise. Windows contain zeros outside of the image, as in MATLAB and scipy.signal.wiener. Source: Lim:
% Two-dimensional signal and image processing (1990), p. 548.
%
% Parameters:
% x - a grey image
% s - size of the window, odd or [height, width]
% noise - the variance of the noise; null is the mean of the variances of all windows
%
% Returns:
% y - the image
% noise - the variance that was used
function [y, noise] = wiener2(x : mat, s = 3, noise = null)
    g = float64(x)
    [m, v] = window_moments("wiener2", g, window_radius("wiener2", s), "zeros")
    noise = isnull(noise) ? mean(v) : noise
    check_least("wiener2: noise", noise, 0)
    y = cast_like(m + max(v - noise, 0)./max(max(v, noise), 1e-300).*(g - m), x)
end

% Function: imsharpen
% An image plus `amount` times what a Gaussian removes from it (unsharp mask).
function y = imsharpen(img : cube, sigma : scalar = 1, amount : scalar = 0.8)
    y = img + amount*(img - gaussian_filter(img, sigma))
end

% Function: im2col, col2im
% The blocks of an image as columns, row by row, and back.
%
% Parameters:
% x - a grey image
% s - [height, width] of a block
% kind - "sliding": a block at every position where it fits; "distinct": blocks beside each other, with zeros at the end
%
% Returns:
% of im2col: prod(s) rows, a column per block; blocks go row by row
function B = im2col(x : mat, s : vec, kind : string = "sliding")
    check_whole("im2col: s", s, 1, 2)
    [rows, columns] = size(x, 0..1)
    if kind == "sliding"
        assert(rows >= s[0] && columns >= s[1], "im2col: s must not be larger than x, ", size(x), ", got ", s)
        count = [rows,columns] - s + 1
        step = [1,1]
        g = x
    else
        assert(kind == "distinct", "im2col: kind must be sliding or distinct, got ", kind)
        count = ceil([rows,columns]./s)
        step = s
        g = zeros_like(x, count.*s)
        g[0..rows-1, 0..columns-1] = x
    endif
    w = size(g,1)
    inner = reshape(transpose(float64(0..s[0]-1))*w + float64(0..s[1]-1), [prod(s),1])
    outer = reshape(transpose(float64(0..count[0]-1))*(step[0]*w) + step[1]*float64(0..count[1]-1), [1,prod(count)])
    at = inner + outer
    B = reshape(reshape(g, [1,numel(g)])[reshape(at, [1,numel(at)])], [prod(s),prod(count)])
end

% The image of distinct blocks; size_ is [height, width].
function x = col2im(B : mat, s : vec, size_ : vec)
    check_whole("col2im: s", s, 1, 2)
    check_whole("col2im: size_", size_, 1, 2)
    count = ceil(size_./s)
    assert(size(B,0) == prod(s) && size(B,1) == prod(count), "col2im: B must have size ", [prod(s),prod(count)], ", got ", size(B))
    blocks = permute(reshape(transpose(B), [count[0],count[1],s[0],s[1]]), [0,2,1,3])
    x = reshape(blocks, count.*s)[0..size_[0]-1, 0..size_[1]-1]
end

% Function: blockproc
% f of every block of s = [height, width] pixels of an image, put together; blocks at the end are smaller. For images larger
% than memory see cluster_map.
function y = blockproc(img : cube, s : vec, f)
    check_whole("blockproc: s", s, 1, 2)
    check_filled("blockproc: img", img)
    bands = []
    for i = 0..s[0]..size(img,0)-1
        band = []
        for j = 0..s[1]..size(img,1)-1
            rows = i..min(i+s[0],size(img,0))-1
            columns = j..min(j+s[1],size(img,1))-1
            part = value_of(f(size(img,2) == 1 ? img[rows,columns] : img[rows,columns,0..size(img,2)-1]))
            band = numel(band) == 0 ? part : horzcat(band, part)
        end
        bands = numel(bands) == 0 ? band : vertcat(bands, band)
    end
    y = bands
end

% x has a border of r pixels.
function [] = __kernel__ bilateral_window(y : cube'unchecked, x : cube'unchecked, r : int, space : scalar, level : scalar, _
                                          pos : ivec3)
    c = x[pos[0]+r,pos[1]+r,pos[2]]
    total = 0.0
    weights = 0.0
    for i = -r..r
        for j = -r..r
            v = x[pos[0]+r+i,pos[1]+r+j,pos[2]]
            w = exp((i*i + j*j)*space + (v-c)*(v-c)*level)
            total += w*v
            weights += w
        end
    end
    y[pos] = total/weights
end

% Function: imbilatfilt
% Smooths an image while keeping its edges: the mean of a window, weighted by Gaussians of the distance and of the difference of
% the grey values. Channels are filtered apart. Source: Tomasi, Manduchi: Bilateral filtering for gray and color images (1998).
%
% Parameters:
% img - height x width or height x width x channels
% level - standard deviation of grey values, greater than 0
% sigma - standard deviation of distances, greater than 0
% r - radius of the window; 0 is ceil(2*sigma)
function y = imbilatfilt(img : cube, level : scalar, sigma : scalar = 1, r : int = 0)
    assert(level > 0 && sigma > 0, "imbilatfilt: level and sigma must be greater than 0, got ", level, " and ", sigma)
    check_whole("imbilatfilt: r", r, 0)
    y = uninit_like(img)
    r = r > 0 ? r : int(ceil(2*sigma))
    framed = window_frame("imbilatfilt", img, r, r)
    parallel_do(size(img, 0..2), y, framed, r, -0.5/sigma^2, -0.5/level^2, bilateral_window)
end

% -- positions ---------------------------------------------------------------------------------------------------------

% Function: normxcorr2
% Returns the normalised correlation of a template with an image, -1 to 1. For element [i,j] the last pixel of the template lies
% on image pixel [i,j], as in MATLAB. It is 0 if the window is uniform. Source: Lewis: Fast normalized cross-correlation (1995).
%
% Parameters:
% template - smaller than x, not uniform
% x - a grey image
% mode - "full", or "valid": only positions where the template lies inside of the image
function c = normxcorr2(template : mat, x : mat, mode : string = "full")
    assert(all(size(template) <= size(x)), "normxcorr2: template must not be larger than x, ", size(x), ", got ", size(template))
    assert(mode == "full" || mode == "valid", "normxcorr2: mode must be full or valid, got ", mode)
    t = float64(template) - mean(float64(template))
    length_ = sqrt(sum(t.^2))
    assert(length_ > 0, "normxcorr2: template must not be uniform")
    [rows, columns] = mode == "full" ? size(t, 0..1) - 1 : [0,0]
    g = zeros_like(t, size(x,0) + 2*rows, size(x,1) + 2*columns)
    g[rows..rows+size(x,0)-1, columns..columns+size(x,1)-1] = float64(x)
    g = g - mean(float64(x))                   % a constant changes nothing but the rounding
    n = numel(t)
    top = conv2(g, fliplr(flipud(t)), "valid")
    line = ones_like(t, 1, size(t,1))
    column = ones_like(t, size(t,0), 1)
    sums = conv2(conv2(g, line, "valid"), column, "valid")
    squares = conv2(conv2(g.^2, line, "valid"), column, "valid")
    spread = squares - sums.^2/n
    c = spread > 1e-10*max(spread) ? clamp(top./sqrt(max(spread, 1e-300))/length_, -1, 1) : 0
end

% Function: phase_correlation
% The shift [down, right] by which x must be moved cyclically to lie on y, to a fraction of a pixel where `upsample` is more than
% 1. Source: Guizar-Sicairos, Thurman, Fienup: Efficient subpixel image registration algorithms (2008).
%
% Parameters:
% y, x - grey images of one size
% upsample - the result is a multiple of 1/upsample
% normalize - whether all frequencies have the same weight
function s = phase_correlation(y : mat, x : mat, upsample : int = 1, normalize = true)
    check_alike("phase_correlation: y and x", y, x)
    check_whole("phase_correlation: upsample", upsample, 1)
    F = fft2(float64(y)).*conj(fft2(float64(x)))
    if normalize
        F = F./max(abs(F), 100*eps)
    endif
    dims = float64(size(y, 0..1))
    at = float64(ind2pos(dims, find_index_max(abs(ifft2(F)))))
    s = at - dims.*(at > floor(dims/2))
    if upsample > 1
        s = round(s*upsample)/upsample
        n = ceil(1.5*upsample)
        first = s*upsample - floor(n/2)
        u = turn_matrix(float64(0..n-1) + first[0], dims[0], upsample)
        v = turn_matrix(float64(0..n-1) + first[1], dims[1], upsample)
        fine = abs(u*F*transpose(v))
        s = (float64(ind2pos(size(fine), find_index_max(fine))) + first)/upsample
    endif
    s = dims > 1 ? s : 0*s
end

% exp(2*pi*i*k*f/upsample) for positions k and the n frequencies f.
function E = turn_matrix(k, n, upsample)
    f = mod(float64(0..n-1) + floor(n/2), n) - floor(n/2)
    t = 2*pi/(upsample*n)*transpose(k).*f
    E = complex(cos(t), sin(t))
end

% Function: peak_local_max
% The positions of the local maxima of an image, the highest first, as skimage.feature.peak_local_max.
%
% Parameters:
% x - a grey image
% distance - a peak is the largest pixel within this distance in rows and columns, and that far from the border
% threshold - peaks are larger than it; null is min(x)
% most - how many are returned at most
%
% Returns:
% p - a row [row, column] for each peak
function p = peak_local_max(x : mat, distance : int = 1, threshold = null, most = inf)
    check_whole("peak_local_max: distance", distance, 1)
    check_filled("peak_local_max: x", x)
    least = isnull(threshold) ? min(x) : threshold
    [rows, columns] = size(x, 0..1)
    high = movmax(movmax(x, 2*distance+1, 0), 2*distance+1, 1)
    good = x == high && x > least
    border = zeros_like(x)
    if rows > 2*distance && columns > 2*distance
        border[distance..rows-1-distance, distance..columns-1-distance] = 1
    endif
    [r, c, v] = find((good && border > 0).*(x - least))
    [_, order] = sort(0 - reshape(v, [1,numel(v)]))
    keep = order[0..min(numel(order), most)-1]
    p = horzcat(reshape(r, [numel(r),1]), reshape(c, [numel(c),1]))[keep,:]
end

% Function: harris
% The strength of corners: det(A) - k*trace(A)^2 of the smoothed products of derivatives (by sobel). Source: Harris, Stephens: A
% combined corner and edge detector (1988); as skimage.feature.corner_harris.
function r = harris(x : mat, k : scalar = 0.05, sigma : scalar = 1)
    side = float64([1,0,-1])
    smooth = float64([1,2,1])
    right = imfilter(imfilter(x, side, [], "zeros"), transpose(smooth), [], "zeros")
    down = imfilter(imfilter(x, smooth, [], "zeros"), transpose(side), [], "zeros")
    n = 2*floor(4*sigma + 0.5) + 1
    a = gaussian_filter(right.^2, sigma, n, "zeros")
    b = gaussian_filter(down.^2, sigma, n, "zeros")
    c = gaussian_filter(right.*down, sigma, n, "zeros")
    r = a.*b - c.^2 - k*(a + b).^2
end

function [] = hough_votes(H : mat[float64], rows, columns, cosine, sine, middle)
    for k = 0..numel(rows)-1
        for j = 0..numel(cosine)-1
            i = int(floor(columns[k]*cosine[j] + rows[k]*sine[j] + 0.5)) + middle
            H[i,j] += 1
        end
    end
end

% Function: hough
% The transform of Hough for lines: H[i,j] pixels of a mask lie on the line column*cos(theta[j]) + row*sin(theta[j]) = rho[i].
%
% Parameters:
% bw - a mask
% theta - angles in degrees; null is -90 … 89
%
% Returns:
% H - the votes, a row per distance and a column per angle
% theta, rho - angles in degrees, distances in pixels
%
% See also: <houghpeaks>
function [H, theta, rho] = hough(bw : mat, theta = null)
    theta = isnull(theta) ? float64(-90..89) : float64(isscalar(theta) ? [theta] : theta)
    middle = ceil(hypot(size(bw,0), size(bw,1)))
    rho = float64(-middle..middle)
    H = mat[float64](numel(rho), numel(theta))
    [r, c] = find(bw)
    hough_votes(H, reshape(float64(r), [1,numel(r)]), reshape(float64(c), [1,numel(c)]), cos(theta*pi/180), sin(theta*pi/180), int(middle))
end

% Function: houghpeaks
% The highest peaks of a transform of Hough.
%
% Parameters:
% H - from hough
% n - how many peaks at most
% threshold - peaks have at least this number of votes; null is max(H)/2
% s - [rows, columns] of the neighbourhood of a peak that is left out; odd numbers; null is 2*ceil(size(H)/100)+1
% more - these as pairs of MATLAB, "Threshold", 20 and "NHoodSize", [5,5], take the position of threshold
%
% Returns:
% p - a row [i, j] for each peak, the highest first
function p = houghpeaks(H : mat, n : int = 1, threshold = null, s = null, ...more)
    if isstring(threshold)
        [threshold, s] = named_values("houghpeaks", {"Threshold", "NHoodSize"}, threshold, s, ...more)
    else
        check_no_more("houghpeaks", more)
    endif
    check_whole("houghpeaks: n", n, 1)
    check_filled("houghpeaks: H", H)
    least = isnull(threshold) ? 0.5*max(H) : threshold
    around = isnull(s) ? 2*ceil(size(H, 0..1)/100) + 1 : s
    check_whole("houghpeaks: s", around, 1, 2)
    half = floor((around-1)/2)
    work = copy(float64(H))
    [rows, columns] = size(H, 0..1)
    p = mat[float64](n, 2)
    count = 0
    going = true
    while going && count < n
        [v, at] = max(work)
        going = v >= least && v > 0
        if going
            i = floor(at/columns)
            j = at - i*columns
            p[count,:] = [i,j]
            count += 1
            % The angle is cyclic: beyond the last column, distances change their sign.
            for d = -half[1]..half[1]
                inside = j+d >= 0 && j+d < columns
                row = inside ? i : rows-1-i
                work[max(row-half[0],0)..min(row+half[0],rows-1), mod(j+d, columns)] = 0
            end
        endif
    end
    p = p[0..count-1,:]
end

% Function: houghlines
% The pieces of lines in a mask that belong to peaks of its transform of Hough.
%
% Parameters:
% bw - the mask
% theta, rho - from [H, theta, rho] = hough(bw)
% peaks - rows [i, j], from houghpeaks(H, n)
% fillgap - pieces of one line with a smaller distance in pixels are joined; null is 20
% minlength - shorter pieces are left out; null is 40
% more - these as pairs of MATLAB, "FillGap", 5 and "MinLength", 7, take the position of fillgap
%
% Returns:
% s - an object of arrays: point1 and point2 with a row [row, column] for each piece (MATLAB: [column, row]), and theta
%     and rho with an element for each
%
% See also: <hough>, <houghpeaks>
function s = houghlines(bw : mat, theta : vec, rho : vec, peaks : mat, fillgap = null, minlength = null, ...more)
    if isstring(fillgap)
        [fillgap, minlength] = named_values("houghlines", {"FillGap", "MinLength"}, fillgap, minlength, ...more)
    else
        check_no_more("houghlines", more)
    endif
    [fillgap, minlength] = {isnull(fillgap) ? 20 : fillgap, isnull(minlength) ? 40 : minlength}
    check_least("houghlines: fillgap", fillgap, 0)
    check_least("houghlines: minlength", minlength, 0)
    assert(size(peaks,1) == 2 || numel(peaks) == 0, "houghlines: peaks must have rows [i, j], got size ", size(peaks))
    assert(numel(rho) > 1, "houghlines: rho must have elements, got ", numel(rho))
    good = peaks >= 0 && peaks == floor(peaks) && peaks < [numel(rho),numel(theta)]
    check_each("houghlines: peaks must have positions in rho and theta", peaks, good)
    [r, c] = find(bw)
    [r, c] = {reshape(float64(r), [1,numel(r)]), reshape(float64(c), [1,numel(c)])}
    step = (float64(rho[numel(rho)-1]) - rho[0])/(numel(rho)-1)
    list = {}
    for k = 0..size(peaks,0)-1
        angle = float64(theta[peaks[k,1]])*pi/180
        on = floor((c*cos(angle) + r*sin(angle) - rho[0])/step + 0.5) == peaks[k,0]
        if any(on)
            points = transpose(vertcat(r[on], c[on]))
            points = sortrows(points, max(r[on]) - min(r[on]) > max(c[on]) - min(c[on]) ? [0,1] : [1,0])
            n = size(points,0)
            first = 0
            for i = 0..n-1
                if i == n-1 || sum((points[i+1,:] - points[i,:]).^2) > fillgap^2
                    if sum((points[i,:] - points[first,:]).^2) >= minlength^2
                        append(list, horzcat(points[first,:], points[i,:], theta[peaks[k,1]], rho[peaks[k,0]]))
                    endif
                    first = i + 1
                endif
            end
        endif
    end
    all_ = numel(list) > 0 ? vertcat(...list) : float64(zeros(0,6))
    s = object()
    s.point1 = all_[:,0..1]
    s.point2 = all_[:,2..3]
    s.theta = transpose(all_[:,4])
    s.rho = transpose(all_[:,5])
end
