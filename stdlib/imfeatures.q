% Module: imfeatures.q
% Features of grey images: textures, orientations, lines and tubes. Outside of an image, pixels are mirrored (b a | a b
% c) unless something else is said. Results are float64.
import "imfilter.q"

% Function: entropyfilt
% The entropy in bits of the grey values around every pixel: how many different ones there are. Values are rounded to
% integers from 0 to 255. skimage.filters.rank.entropy leaves out what lies outside of the image.
%
% Parameters:
% x - a grey image of values 0 to 255
% domain - a mask of odd size, whose positions count
function y = entropyfilt(x : mat, domain : mat = ones(9,9))
    check_each("entropyfilt: x must have values from 0 to 255", x, x >= 0 && x <= 255)
    assert(all(mod(size(domain, 0..1), 2) == 1), "entropyfilt: domain must have an odd size, got ", size(domain))
    [i, j] = find(domain)
    assert(numel(i) > 0, "entropyfilt: domain must have elements other than 0")
    [rows, columns] = size(x, 0..1)
    y = zeros_like(float64([0]), rows, columns)
    if numel(x) > 0
        h = (size(domain, 0..1) - 1)/2
        v = bound_extension(x, h[0], h[1])
        [i, j] = {reshape(i, [1,numel(i)]), reshape(j, [1,numel(j)])}
        n = float64(0..numel(i))
        entropy_counts(y, int(round(v)), int(i), int(j), n.*log2(max(n, 1)))
    endif
end

% terms[n]: n*log2(n). The entropy of counts n with the sum N is log2(N) - sum(terms[n])/N.
function [] = entropy_counts(y : mat[float64], v : mat[int], rows : vec[int], columns : vec[int], terms : vec[float64])
    counts = vec[int](256)
    total = numel(rows)
    for i = 0..size(y,0)-1
        for j = 0..size(y,1)-1
            s = 0.0
            for k = 0..total-1
                g = v[i+rows[k],j+columns[k]]
                n = counts[g]
                s += terms[n+1] - terms[n]
                counts[g] = n + 1
            end
            for k = 0..total-1
                counts[v[i+rows[k],j+columns[k]]] = 0
            end
            y[i,j] = (terms[total] - s)/total
        end
    end
end

% Function: local_binary_pattern
% A number for the pattern around every pixel: of P points on a circle of radius R, those that are at least as bright as
% the pixel. Between pixels, points are interpolated; outside of the image, they are 0. As
% skimage.feature.local_binary_pattern. Source: Ojala, Pietikäinen, Mäenpää: Multiresolution gray-scale and rotation
% invariant texture classification with local binary patterns (2002).
%
% Parameters:
% x - a grey image
% P - number of points, from the right counter-clockwise
% R - radius in pixels
% method - "default": the sum of 2^k over the bright points k; "ror": the smallest of these numbers for all rotations;
%     "uniform": the number of bright points if they follow each other, else P+1; "var": the variance of the points
function y = local_binary_pattern(x : mat, P : int, R : scalar, method : string = "default")
    check_whole("local_binary_pattern: P", P, 1)
    assert(P <= 31, "local_binary_pattern: P must be at most 31, got ", P)
    assert(R > 0 && R < inf, "local_binary_pattern: R must be greater than 0, got ", R)
    assert(method == "default" || method == "ror" || method == "uniform" || method == "var",
           "local_binary_pattern: method must be default, ror, uniform or var, got ", method)
    [rows, columns] = size(x, 0..1)
    n = int(ceil(R)) + 1
    framed = bound_extension(float64(x), n, n, "zeros")
    first = null
    before = null
    [bright, changes, sums, squares] = {0*float64(x), 0*float64(x), 0*float64(x), 0*float64(x)}
    code = 0*float64(x)
    for k = 0..P-1
        down = round(-R*sin(2*pi*k/P)*1e5)/1e5
        right = round(R*cos(2*pi*k/P)*1e5)/1e5
        v = lbp_moved(framed, n, rows, columns, down, right)
        bit = float64(v >= x)
        bright = bright + bit
        code = code + 2^k*bit
        if !isnull(before)
            changes = changes + (bit != before ? 1 : 0)
        endif
        before = bit
        sums = sums + v
        squares = squares + v.^2
    end
    match method with
    | "default" -> y = code
    | "uniform" -> y = changes <= 2 ? bright : P + 1
    | "ror" ->
        y = code
        for k = 1..P-1
            low = mod(code, 2)
            code = (code - low)/2 + low*2^(P-1)
            y = min(y, code)
        end
    | "var" ->
        v = (squares - sums.^2/P)/P
        y = v != 0 ? v : nan
    end
end

% The image moved by fractions of pixels, by bilinear interpolation.
function v = lbp_moved(framed, n, rows, columns, down, right)
    [i, j] = {floor(down), floor(right)}
    [a, b] = {down - i, right - j}
    part = (p, q) -> framed[n+p..n+p+rows-1, n+q..n+q+columns-1]
    v = (1-a)*((1-b)*part(i, j) + b*part(i, j+1)) + a*((1-b)*part(i+1, j) + b*part(i+1, j+1))
end

% Function: hog
% Histograms of oriented gradients, a description of shapes for classifiers, as skimage.feature.hog.
% Source: Dalal, Triggs: Histograms of oriented gradients for human detection (2005).
%
% Parameters:
% img - height x width or height x width x channels; of several channels, each pixel takes the one with the largest
%     gradient
% orientations - how many bins there are for 0 to 180 degrees
% pixels_per_cell - [height, width] of a cell, which has one histogram
% cells_per_block - [rows, columns] of cells that are normalised together
% block_norm - "L2-Hys" (L2, then at most 0.2, then L2 again), "L2", "L1" or "L1-sqrt"
% transform_sqrt - whether the square root of the image is taken first
%
% Returns:
% features - a row: for each block, row by row, for each of its cells, the bins
% blocks - the same as an array of size blocks x (cells x bins)
function [features, blocks] = hog(img : cube, orientations : int = 9, pixels_per_cell = [8,8],
                                  cells_per_block = [3,3], _
                                  block_norm : string = "L2-Hys", transform_sqrt = false)
    check_whole("hog: orientations", orientations, 1)
    check_whole("hog: pixels_per_cell", pixels_per_cell, 1, 2)
    check_whole("hog: cells_per_block", cells_per_block, 1, 2)
    x = float64(img)
    if transform_sqrt
        check_each("hog: img must not be negative for transform_sqrt", x, x >= 0)
        x = sqrt(x)
    endif
    [rows, columns] = size(x, 0..1)
    cells = floor([rows,columns]./pixels_per_cell)
    count = cells - cells_per_block + 1
    assert(all(count >= 1), "hog: img must have at least ", pixels_per_cell.*cells_per_block, " pixels, got ",
           [rows,columns])
    [down, right, most] = {null, null, null}
    for c = 0..size(x,2)-1
        d = 0*x[:,:,c]
        r = 0*d
        d[1..rows-2,:] = x[2..rows-1,:,c] - x[0..rows-3,:,c]
        r[:,1..columns-2] = x[:,2..columns-1,c] - x[:,0..columns-3,c]
        m = hypot(d, r)
        if isnull(most)
            [down, right, most] = {d, r, m}
        else
            [down, right, most] = {m > most ? d : down, m > most ? r : right, max(m, most)}
        endif
    end
    [h, w] = {pixels_per_cell[0]*cells[0], pixels_per_cell[1]*cells[1]}
    bin = floor(mod(atan2(down, right)*(180/pi), 180)/(180/orientations))[0..h-1,0..w-1]
    cell_ = transpose(floor(float64(0..h-1)/pixels_per_cell[0]))*cells[1] + floor(float64(0..w-1)/pixels_per_cell[1])
    at = reshape(cell_*orientations + min(bin, orientations-1), [1,h*w])
    votes = bincount(int(at), prod(cells)*orientations, reshape(most[0..h-1,0..w-1], [1,h*w]))/prod(pixels_per_cell)
    votes = reshape(votes, [cells[0],cells[1],orientations])
    n = prod(cells_per_block)*orientations
    blocks = float64(zeros(prod(count), n))
    for i = 0..count[0]-1
        for j = 0..count[1]-1
            b = votes[i..i+cells_per_block[0]-1, j..j+cells_per_block[1]-1, 0..orientations-1]
            blocks[i*count[1]+j,:] = hog_norm(reshape(b, [1,n]), block_norm)
        end
    end
    features = reshape(blocks, [1,numel(blocks)])
end

function b = hog_norm(b, norm_)
    match norm_ with
    | "L2" -> b = b/sqrt(sum(b.^2) + 1e-10)
    | "L2-Hys" ->
        b = min(b/sqrt(sum(b.^2) + 1e-10), 0.2)
        b = b/sqrt(sum(b.^2) + 1e-10)
    | "L1" -> b = b/(sum(abs(b)) + 1e-5)
    | "L1-sqrt" -> b = sqrt(b/(sum(abs(b)) + 1e-5))
    | _ -> error("hog: block_norm must be L2-Hys, L2, L1 or L1-sqrt, got ", norm_)
    end
end

% Function: gabor_kernel
% A filter for waves of one direction and wavelength, as skimage.filters.gabor_kernel: a Gaussian times a complex wave.
%
% Parameters:
% frequency - waves per pixel
% theta - direction of the wave in radians, from right to down
% bandwidth - in octaves; it gives the standard deviations unless they are given
% sigma_x, sigma_y - standard deviations along and across the direction; null: from the bandwidth
% n_stds - extent of the filter in standard deviations
% offset - phase of the wave in radians
%
% Returns:
% g - a complex matrix of odd size
function g = gabor_kernel(frequency : scalar, theta : scalar = 0, bandwidth : scalar = 1, sigma_x = null,
                          sigma_y = null, _
                          n_stds : scalar = 3, offset : scalar = 0)
    assert(frequency > 0 && frequency < inf, "gabor_kernel: frequency must be greater than 0, got ", frequency)
    assert(bandwidth > 0, "gabor_kernel: bandwidth must be greater than 0, got ", bandwidth)
    usual = sqrt(log(2)/2)/pi*(2^bandwidth + 1)/(2^bandwidth - 1)/frequency
    [sx, sy] = {isnull(sigma_x) ? usual : sigma_x, isnull(sigma_y) ? usual : sigma_y}
    assert(check_real([sx,sy]) && all([sx,sy] > 0), "gabor_kernel: sigma_x and sigma_y must be greater than 0, got ",
           [sx,sy])
    [c, s] = {cos(theta), sin(theta)}
    w = ceil(max(max(abs(n_stds*sx*c), abs(n_stds*sy*s)), 1))
    h = ceil(max(max(abs(n_stds*sy*c), abs(n_stds*sx*s)), 1))
    [x, y] = meshgrid(float64(-w..w), float64(-h..h))
    [along, across] = {x*c + y*s, y*c - x*s}
    size_ = exp(-0.5*(along.^2/sx^2 + across.^2/sy^2))/(2*pi*sx*sy)
    phase = 2*pi*frequency*along + offset
    g = complex(size_.*cos(phase), size_.*sin(phase))
end

% Function: gabor
% The response of a grey image to the filter <gabor_kernel>, as skimage.filters.gabor: its real and its imaginary part;
% hypot(re, im) is its strength. (MATLAB's gabor makes filters, of a wavelength 1/frequency and of degrees.)
%
% Parameters:
% x - a grey image
% frequency, theta, bandwidth, sigma_x, sigma_y, n_stds, offset - as for <gabor_kernel>
function [re, im] = gabor(x, frequency : scalar, theta : scalar = 0, bandwidth : scalar = 1, sigma_x = null, _
                          sigma_y = null, n_stds : scalar = 3, offset : scalar = 0)
    assert(check_real(x) && numel(x) > 1 && ndims(x) <= 2, "gabor: x must be a grey image, got ", type(x),
           "; gabor_kernel(1/wavelength, theta) is a filter")
    g = gabor_kernel(frequency, theta, bandwidth, sigma_x, sigma_y, n_stds, offset)
    re = filter_image("gabor", float64(x), real(g), [], "mirror")
    im = filter_image("gabor", float64(x), imag(g), [], "mirror")
end

% Function: frangi
% How much each pixel looks like part of a dark line or tube, 0 to 1, as skimage.filters.frangi.
% Source: Frangi, Niessen, Vincken, Viergever: Multiscale vessel enhancement filtering (1998).
%
% Parameters:
% x - a grey image
% sigmas - standard deviations of the Gaussians in pixels, about half the widths of lines; the largest response counts
% beta - how much round spots are left out
% gamma - how much weak structures are left out; null: half the largest norm of the second derivatives for the first
%     sigma
% black_ridges - whether lines are darker than what is around them
function y = frangi(x : mat, sigmas = [1,3,5,7,9], beta : scalar = 0.5, gamma = null, black_ridges = true)
    check_filled("frangi: x", x)
    check_finite("frangi: x", x)
    check_finite("frangi: sigmas", sigmas)
    check_each("frangi: sigmas must be greater than 0", sigmas, sigmas > 0)
    check_least("frangi: beta", beta, 0)
    z = black_ridges ? float64(x) : 0 - float64(x)
    y = 0*z
    for sigma = reshape(sigmas, [1,numel(sigmas)])
        [a, b, c] = hessian_of_image(z, sigma)
        root = sqrt((a - c).^2/4 + b.^2)
        [high, low] = {(a + c)/2 + root, (a + c)/2 - root}
        [large, small] = {abs(high) >= abs(low) ? high : low, abs(high) >= abs(low) ? low : high}
        norm_ = sqrt(high.^2 + low.^2)
        if isnull(gamma)
            gamma = max(norm_) > 1e-12*max(abs(z)) ? max(norm_)/2 : 1   % less is rounding
        endif
        ratio = abs(small)./max(large, 1e-10)
        y = max(y, exp(-ratio.^2/(2*beta^2)).*(1 - exp(-norm_.^2/(2*gamma^2))))
    end
end

% Second derivatives down, down and right, and right, by derivatives of Gaussians with sigma/sqrt(2), twice.
function [a, b, c] = hessian_of_image(x, sigma)
    s = sigma/sqrt(2)
    n = floor((sigma > 1 ? 8 : 100)*s + 0.5)
    g = gaussian_weights(s, 2*n + 1)
    d = -float64(-n..n)/s^2.*g
    apply = (z, down, right) -> filter_image("frangi", filter_image("frangi", z, transpose(down), [], "mirror"),
                                             right, [], "mirror")
    down = apply(x, d, g)
    right = apply(x, g, d)
    a = apply(down, d, g)
    b = apply(down, g, d)
    c = apply(right, g, d)
end
