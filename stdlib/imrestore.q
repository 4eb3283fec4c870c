% Module: imrestore.q
% Restoring images: deconvolution, noise, colours of sensors; test images and textures.
import "imfilter.q"

% The transfer function of a mask whose middle is the pixel itself.
function F = deconv_transfer(what, psf, dims)
    check_filled(strcat(what, ": psf"), psf)
    assert(all(size(psf, 0..1) <= dims), what, ": psf must not be larger than the image, ", dims, ", got ", size(psf))
    wide = zeros_like(float64([0]), dims)
    wide[0..size(psf,0)-1, 0..size(psf,1)-1] = psf
    F = fft2(circshift(wide, 0-floor(size(psf, 0..1)/2)))
end

% Function: deconvwnr
% An image without the blur of a mask, by the filter of Wiener: conj(H)*Y/(|H|^2 + nsr). The image is cyclic.
%
% Parameters:
% y - a blurred grey image
% psf - the mask, whose sum is 1; its middle, floor(size/2), is the pixel itself
% nsr - power of the noise over that of the image: a number, or as large as y for each frequency
function x = deconvwnr(y : mat, psf : mat, nsr = 0)
    check_least("deconvwnr: nsr", nsr, 0)
    H = deconv_transfer("deconvwnr", psf, size(y, 0..1))
    power = abs(H).^2 + nsr
    x = cast_like(real(ifft2(conj(H).*fft2(float64(y))./max(power, 1e-300))), y)
end

% Function: deconvlucy
% An image without the blur of a mask, by the iteration of Richardson and Lucy for Poisson noise. The image is cyclic.
% Source: Richardson: Bayesian-based iterative method of image restoration (1972); Lucy (1974).
%
% Parameters:
% y - a blurred grey image, not negative
% psf - the mask; it is divided by its sum
% n - how many iterations
function x = deconvlucy(y : mat, psf : mat, n : int = 10)
    check_whole("deconvlucy: n", n, 0)
    check_filled("deconvlucy: y", y)
    check_filled("deconvlucy: psf", psf)
    check_least("deconvlucy: the smallest element of y", min(y), 0)
    check_least("deconvlucy: the smallest element of psf", min(psf), 0)
    assert(sum(psf) > 0, "deconvlucy: psf must not be all 0")
    g = float64(y)
    H = deconv_transfer("deconvlucy", float64(psf)/sum(float64(psf)), size(y, 0..1))
    e = zeros_like(g) + mean(g)
    for k = 1..n
        blurred = max(real(ifft2(fft2(e).*H)), 1e-12)
        e = max(e.*real(ifft2(fft2(g./blurred).*conj(H))), 0)
    end
    x = cast_like(e, y)
end

function [] = __kernel__ tv_dual(p : mat'unchecked, q : mat'unchecked, u : mat'clamped, tau : scalar, norm_ : scalar, pos : ivec2)
    a = u[pos+[1,0]] - u[pos]
    b = u[pos+[0,1]] - u[pos]
    d = 1 + norm_*sqrt(a*a + b*b)
    p[pos] = (p[pos] - tau*a)/d
    q[pos] = (q[pos] - tau*b)/d
end

function [] = __kernel__ tv_primal(u : mat'unchecked, x : mat'unchecked, p : mat'safe, q : mat'safe, pos : ivec2)
    u[pos] = x[pos] - p[pos] - q[pos] + p[pos-[1,0]] + q[pos-[0,1]]
end

% Function: denoise_tv
% An image without noise, of small total variation: it minimises sum(|gradient|)*weight + sum((u-x)^2)/2.
% Source: Chambolle: An algorithm for total variation minimization and applications (2004); as
% skimage.restoration.denoise_tv_chambolle.
%
% Parameters:
% x - a grey image
% weight - more removes more, in grey values; null is 25
% n - the largest number of iterations
% tol - it ends when the energy changes by less than this fraction of the first one
function u = denoise_tv(x : mat, weight = null, n : int = 200, tol : scalar = 2e-4)
    weight = scale_of("denoise_tv: x", x, weight, 25)
    assert(weight > 0 && weight < inf, "denoise_tv: weight must be greater than 0 and finite, got ", weight)
    check_whole("denoise_tv: n", n, 1)
    check_filled("denoise_tv: x", x)
    p = zeros_like(x)
    q = zeros_like(x)
    u = copy(x)
    tau = 0.25
    first = 0
    before = 0
    k = 0
    going = true
    while going
        if k > 0
            u = uninit_like(x)
            parallel_do(size(x), u, x, p, q, tv_primal)
        endif
        [rows, columns] = size(u, 0..1)
        a = zeros_like(u)
        b = zeros_like(u)
        if rows > 1
            a[0..rows-2,:] = u[1..rows-1,:] - u[0..rows-2,:]
        endif
        if columns > 1
            b[:,0..columns-2] = u[:,1..columns-1] - u[:,0..columns-2]
        endif
        energy = (sum((u - x).^2) + weight*sum(sqrt(a.^2 + b.^2)))/numel(x)
        parallel_do(size(x), p, q, u, tau, tau/weight, tv_dual)
        going = k == 0 || abs(before - energy) >= tol*first
        first = k == 0 ? energy : first
        before = energy
        k += 1
        going = going && k < n
    end
end

% x has a border of reach+r pixels.
function [] = __kernel__ nlm_at(y : mat'unchecked, x : mat'unchecked, r : int, reach : int, level : scalar, noise : scalar, _
                                pos : ivec2)
    total = 0.0
    weights = 0.0
    for i = 0..2*reach
        for j = 0..2*reach
            d = 0.0
            for m = 0..2*r
                for n = 0..2*r
                    e = x[pos[0]+reach+m,pos[1]+reach+n] - x[pos[0]+i+m,pos[1]+j+n]
                    d += e*e
                end
            end
            w = exp(0-max(d/((2*r+1)*(2*r+1)) - noise, 0.0)*level)
            total += w*x[pos[0]+r+i,pos[1]+r+j]
            weights += w
        end
    end
    y[pos] = total/weights
end

% Function: nlmeans
% An image without noise, by non-local means: every pixel becomes the mean of the pixels in a large window, weighted by
% exp(-max(d - 2*sigma^2, 0)/h^2), where d is the mean squared difference of the patches around them.
% Source: Buades, Coll, Morel: Non-local means denoising (2011).
%
% Parameters:
% x - a grey image
% h - more removes more, in grey values; null is 10
% sigma - standard deviation of the noise
% r - radius of the patches
% reach - radius of the window
function y = nlmeans(x : mat, h = null, sigma : scalar = 0, r : int = 2, reach : int = 8)
    h = scale_of("nlmeans: x", x, h, 10)
    assert(h > 0, "nlmeans: h must be greater than 0, got ", h)
    check_least("nlmeans: sigma", sigma, 0)
    check_whole("nlmeans: r", r, 0)
    check_whole("nlmeans: reach", reach, 0)
    y = uninit_like(x)
    framed = window_frame("nlmeans", x, reach + r, reach + r)
    parallel_do(size(x), y, framed, r, reach, 1/h^2, 2*sigma^2, nlm_at)
end

% Function: demosaic
% The colours of a picture of a sensor with one colour per pixel, by linear filters of 5 x 5 pixels.
% Source: Malvar, He, Cutler: High-quality linear interpolation for demosaicing of Bayer-patterned color images (2004).
%
% Parameters:
% x - the grey values of the sensor
% pattern - the colours of the first two rows: "rggb", "bggr", "grbg" or "gbrg"
function rgb = demosaic(x : mat, pattern : string = "rggb")
    assert(ismember(pattern, {"rggb", "bggr", "grbg", "gbrg"}), "demosaic: pattern must be rggb, bggr, grbg or gbrg, got ", pattern)
    assert(size(x,0) > 4 && size(x,1) > 4, "demosaic: x must have at least 5 x 5 pixels, got size ", size(x))
    red = pattern == "rggb" ? [0,0] : pattern == "grbg" ? [0,1] : pattern == "gbrg" ? [1,0] : [1,1]
    rgb = uninit_like(x, size(x,0), size(x,1), 3)
    parallel_do(size(x), rgb, x, int(red), demosaic_at)
end

% The index k of 0 … n-1, mirrored without doubling the border, so that colours stay in their places.
function k = __device__ demosaic_fold(k : int, n : int)
    k = abs(k)
    k = k < n ? k : 2*n-2-k
end

function [] = __kernel__ demosaic_at(rgb : cube'unchecked, x : mat'unchecked, red : ivec2, pos : ivec2)
    rows = size(x,0)
    columns = size(x,1)
    up = demosaic_fold(pos[0]-1, rows)
    down = demosaic_fold(pos[0]+1, rows)
    left = demosaic_fold(pos[1]-1, columns)
    right = demosaic_fold(pos[1]+1, columns)
    above = demosaic_fold(pos[0]-2, rows)
    below = demosaic_fold(pos[0]+2, rows)
    west = demosaic_fold(pos[1]-2, columns)
    east = demosaic_fold(pos[1]+2, columns)
    c = x[pos]
    near_v = x[up,pos[1]] + x[down,pos[1]]
    near_h = x[pos[0],left] + x[pos[0],right]
    far_v = x[above,pos[1]] + x[below,pos[1]]
    far_h = x[pos[0],west] + x[pos[0],east]
    corners = x[up,left] + x[up,right] + x[down,left] + x[down,right]
    green = (4*c + 2*(near_v + near_h) - far_v - far_h)/8
    across = (5*c + 4*near_h - corners - far_h + 0.5*far_v)/8
    along = (5*c + 4*near_v - corners - far_v + 0.5*far_h)/8
    other = (6*c + 2*corners - 1.5*(far_v + far_h))/8
    in_red_row = mod(pos[0] - red[0], 2) == 0
    in_red_column = mod(pos[1] - red[1], 2) == 0
    if in_red_row && in_red_column
        rgb[pos[0],pos[1],0] = c
        rgb[pos[0],pos[1],1] = green
        rgb[pos[0],pos[1],2] = other
    elseif in_red_row
        rgb[pos[0],pos[1],0] = across
        rgb[pos[0],pos[1],1] = c
        rgb[pos[0],pos[1],2] = along
    elseif in_red_column
        rgb[pos[0],pos[1],0] = along
        rgb[pos[0],pos[1],1] = c
        rgb[pos[0],pos[1],2] = across
    else
        rgb[pos[0],pos[1],0] = other
        rgb[pos[0],pos[1],1] = green
        rgb[pos[0],pos[1],2] = c
    endif
end

% Function: phantom
% The head of Shepp and Logan, a test image of n x n pixels for tomography, with the contrast of Toft ("modified") or the
% original one.
function x = phantom(n : int = 256, kind : string = "modified")
    check_whole("phantom: n", n, 1)
    assert(kind == "modified" || kind == "original", "phantom: kind must be modified or original, got ", kind)
    grey = kind == "modified" ? [1, -0.8, -0.2, -0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1] : _
           [1, -0.98, -0.02, -0.02, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01]
    ellipses = [[0.69,0.92,0,0,0], [0.6624,0.874,0,-0.0184,0], [0.11,0.31,0.22,0,-18], [0.16,0.41,-0.22,0,18], _
                [0.21,0.25,0,0.35,0], [0.046,0.046,0,0.1,0], [0.046,0.046,0,-0.1,0], [0.046,0.023,-0.08,-0.605,0], _
                [0.023,0.023,0,-0.606,0], [0.023,0.046,0.06,-0.605,0]]
    at = (2*float64(0..n-1) - (n-1))/max(n-1, 1)
    u = repmat(at, [n,1])
    v = 0 - transpose(u)
    x = zeros_like(u)
    for k = 0..9
        c = cos(ellipses[k,4]*pi/180)
        s = sin(ellipses[k,4]*pi/180)
        du = u - ellipses[k,2]
        dv = v - ellipses[k,3]
        x = x + grey[k]*((du*c + dv*s).^2/ellipses[k,0]^2 + (dv*c - du*s).^2/ellipses[k,1]^2 <= 1)
    end
    x = cast_like(x, [])
end

function [] = glcm_count(G, x, dr, dc)
    for i = max(0, -dr)..min(size(x,0), size(x,0)-dr)-1
        for j = max(0, -dc)..min(size(x,1), size(x,1)-dc)-1
            G[x[i,j], x[i+dr,j+dc]] += 1
        end
    end
end

% Function: graycomatrix
% How often grey levels a and b are neighbours: G[a,b] counts the pixels of level a for which the pixel at offset has level b.
%
% Parameters:
% x - levels 0 to levels-1, integers
% offset - [down, right]
% levels - how many levels there are
% symmetric - whether both orders count
%
% See also: <graycoprops>
function G = graycomatrix(x : mat, offset : vec = [0,1], levels : int = 8, symmetric = false)
    check_whole("graycomatrix: offset", offset, -inf, 2)
    check_whole("graycomatrix: levels", levels, 1)
    assert(all(x >= 0) && all(x < levels) && all(x == floor(x)), "graycomatrix: x must be integers from 0 to levels-1, ", levels-1)
    G = mat[float64](levels, levels)
    glcm_count(G, int(x), int(offset[0]), int(offset[1]))
    G = symmetric ? G + transpose(G) : G
end

% Function: graycoprops
% Measures of a texture, of graycomatrix: an object with Contrast, Correlation, Energy (the sum of squares, as MATLAB) and
% Homogeneity (weights 1/(1+|a-b|)).
function s = graycoprops(G : mat)
    assert(size(G,0) == size(G,1) && sum(G) > 0, "graycoprops: G must be a square matrix with counts, got size ", size(G))
    p = float64(G)/sum(float64(G))
    b = repmat(float64(0..size(G,1)-1), [size(G,0),1])
    a = transpose(b)
    s = object()
    s.Contrast = sum(p.*(a-b).^2)
    ma = sum(p.*a)
    mb = sum(p.*b)
    s.Correlation = sum(p.*(a-ma).*(b-mb))/sqrt(sum(p.*(a-ma).^2)*sum(p.*(b-mb).^2))
    s.Energy = sum(p.^2)
    s.Homogeneity = sum(p./(1 + abs(a-b)))
end
