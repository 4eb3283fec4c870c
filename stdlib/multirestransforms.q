% Module: multirestransforms.q
% Multiresolution transforms as pairs of functions: [S, S_H] = build_…(…) gives an analysis S and its inverse S_H.
%
% S gives nested cells of real bands, which may be changed in place before they go to S_H; lincell lists them, the low
% pass rest last.
import "dwt.q"
import "dtcwt.q"

% Function: build_dwt
% The wavelet transform of J levels with the low pass filter w.  The older order, (J, w), is understood, too.
function [S, S_H] = build_dwt(w : vec = filtercoeff_daub4, J : int = 4)
    S = x -> dwt2d(x, w, J)
    S_H = W -> idwt2d(W, w)
end
function [S, S_H] = build_dwt(J : int, w : vec = filtercoeff_daub4)
    [S, S_H] = build_dwt(w, J)
end

% Function: build_dtcwt
% The dual-tree complex wavelet transform of J levels, with filters as dtcwt2d takes them.
%
% Returns:
% S - gives a cell of J+1 entries: for each level, finest first, six cells {real part, imaginary part}, one per direction;
%     then the low pass rests of the four trees
% S_H - its inverse
function [S, S_H] = build_dtcwt(w1 = filtercoeff_farras, w2 = filtercoeff_dualfilt, J : int = 4)
    S = x -> parts_of_bands(dtcwt2d(x, w1, w2, J))
    S_H = W -> idtcwt2d(bands_of_parts(W), w1, w2)
end
function [S, S_H] = build_dtcwt(J : int)
    [S, S_H] = build_dtcwt(filtercoeff_farras, filtercoeff_dualfilt, J)
end

function V = parts_of_bands(W)
    V = copy(W)
    for j = 0..numel(W)-2
        V[j] = cell(6)
        for b = 0..5
            V[j][b] = {real(W[j][b]), imag(W[j][b])}
        end
    end
end

function W = bands_of_parts(V)
    W = copy(V)
    for j = 0..numel(V)-2
        W[j] = cell(6)
        for b = 0..5
            W[j][b] = complex(V[j][b][0], V[j][b][1])
        end
    end
end

% -- transforms by windows of the spectrum -----------------------------------------------------------------------------

% Returns the frequencies of the rows and columns of fft2; 1 is half a period per pixel.
function [u, v] = spectrum_axes(dims : vec)
    axis = n -> (mod(float64(0..n-1)/n + 0.5, 1) - 0.5)*2
    u = repmat(transpose(axis(dims[0])), [1,dims[1]])
    v = repmat(axis(dims[1]), [dims[0],1])
end

% 1 up to half of `end_at`, then falls to 0 as a quarter cosine in octaves; spectrum_rest is the complementary sine.
function y = spectrum_low(r : mat, end_at : scalar)
    y = cos(pi/2*clamp(log2(max(r, 1e-9)/end_at) + 1, 0, 1))
end

function y = spectrum_rest(low : mat)
    y = sqrt(max(0, 1 - low.^2))
end

function y = windowed(X, window, img : mat) % not : cmat, which would make the result complex64
    y = cast_like(real(ifft2(X.*window)), img)
end

% Returns the low frequencies as an image of half the height and width with the same energy per pixel.
function at = low_half(n : int)
    at = horzcat(0..n/4-1, n-n/4..n-1)
end

function y = spectrum_shrink(X)
    y = X[low_half(size(X,0)), low_half(size(X,1))]/2
end

function X = spectrum_grow(y)
    X = complex(zeros_like(real(y), 2*size(y,0..1)))
    X[low_half(size(X,0)), low_half(size(X,1))] = y*2
end

% -- the steerable pyramid ---------------------------------------------------------------------------------------------

% Returns the low-pass window of a level and its K band windows: powers of cosines of the angle with a constant sum.
function [low, bands] = stp_level(dims : vec, K : int)
    [u, v] = spectrum_axes(dims)
    angle = atan2(u, v)
    low = spectrum_low(sqrt(u.^2 + v.^2), 0.5)
    order = K-1
    weight = 2^order*tgamma(K)/sqrt(K*tgamma(2*order+1))
    turn = [complex(1,0), complex(0,-1), complex(-1,0), complex(0,1)][mod(order,4)] % makes the bands real
    bands = cell(K)
    for k = 0..K-1
        bands[k] = turn*(weight*spectrum_rest(low).*cos(angle - pi*k/K).^order)
    end
end

% Function: build_stp
% The steerable pyramid: bands of K directions on J levels, each of half the height and width of the one before.
% Source: Simoncelli, Freeman: The steerable pyramid, IEEE International Conference on Image Processing (1995).
%
% Parameters:
% dims - height and width of the images, both divisible by 2^(J+1)
% K - how many directions
% J - how many levels
%
% Returns:
% S - of an image gives a cell of J+2 entries: the highest frequencies, for each level, finest first, a cell of K bands,
%     and the low pass rest.  The sum of all squares is that of the image.
% S_H - its inverse
function [S, S_H] = build_stp(dims : vec, K : int = 4, J : int = 4)
    dims = check_plane("build_stp: dims", dims)
    check_least("build_stp: K", K, 1)
    check_least("build_stp: J", J, 0)
    assert(all(mod(dims, 2^(J+1)) == 0), "build_stp: ", J, " levels need a height and width that ", 2^(J+1), " divides, got ", dims)
    [u, v] = spectrum_axes(dims)
    inside = spectrum_low(sqrt(u.^2 + v.^2), 1)
    lows = cell(J)
    windows = cell(J)
    for j = 0..J-1
        [lows[j], windows[j]] = stp_level(dims/2^j, K)
    end
    S = x -> stp_analysis(x, inside, lows, windows)
    S_H = W -> stp_synthesis(W, inside, lows, windows)
end

function W = stp_analysis(x : mat, inside : mat, lows, windows)
    check_size("build_stp: the image", x, size(inside))
    J = numel(lows)
    W = cell(J+2)
    X = fft2(x)
    W[0] = windowed(X, spectrum_rest(inside), x)
    X = X.*inside
    for j = 0..J-1
        bands = cell(numel(windows[j]))
        for k = 0..numel(bands)-1
            bands[k] = windowed(X, windows[j][k], x)
        end
        W[j+1] = bands
        X = spectrum_shrink(X.*lows[j])
    end
    W[J+1] = cast_like(real(ifft2(X)), x)
end

function x = stp_synthesis(W, inside : mat, lows, windows)
    J = numel(lows)
    X = fft2(W[J+1])
    for j = J-1..-1..0
        X = spectrum_grow(X).*lows[j]
        for k = 0..numel(windows[j])-1
            X += fft2(W[j+1][k]).*conj(windows[j][k])
        end
    end
    x = cast_like(real(ifft2(X.*inside + fft2(W[0]).*spectrum_rest(inside))), W[0])
end

% -- shearlets ---------------------------------------------------------------------------------------------------------

% Directions as slopes: -1 to 1 in the cone around the rows, 1 to 3 in the one around the columns; 4 is half a rotation.
function t = shear_of(u : mat, v : mat)
    t = u./v
    steep = 2 - v./u
    t[abs(u) > abs(v)] = steep[abs(u) > abs(v)]
    t[isnan(t)] = 0
end

% Makes a window symmetric under negation of the frequency, as real images need.
function y = spectrum_even(y : mat)
    y = sqrt((y.^2 + circshift(flipud(fliplr(y)), [1,1]).^2)/2)
end

% Function: build_energyweighted_dst2d
% A discrete shearlet transform: J scales of K directions, windows of the spectrum without subsampling.  Each band is
% weighted so that white noise has the same variance in all of them as in the image.
% Source: Guo, Labate: Optimally sparse multidimensional representation using shearlets, SIAM Journal on Mathematical
% Analysis (2007).
%
% Parameters:
% dims - height and width of the images
% K - how many directions
% J - how many scales
%
% Returns:
% S - of an image gives a cell of J+1 entries: for each scale, finest first, a cell of K bands; then the low pass rest
% S_H - its inverse
function [S, S_H] = build_energyweighted_dst2d(dims : vec, K : int = 8, J : int = 4)
    dims = check_plane("build_energyweighted_dst2d: dims", dims)
    check_least("build_energyweighted_dst2d: K", K, 2)
    check_least("build_energyweighted_dst2d: J", J, 1)
    [u, v] = spectrum_axes(dims)
    r = max(abs(u), abs(v))
    t = shear_of(u, v)
    windows = cell(J+1)
    left = ones_like(r)
    for j = 0..J-1
        low = spectrum_low(r, 2^-j)
        ring = sqrt(max(0, left.^2 - low.^2))
        windows[j] = cell(K)
        for k = 0..K-1
            away = abs(mod(t - 4*k/K + 2, 4) - 2)*K/4
            windows[j][k] = spectrum_even(ring.*cos(pi/2*min(away, 1)))
        end
        left = low
    end
    windows[J] = left
    S = x -> dst2d_analysis(x, windows)
    S_H = W -> dst2d_synthesis(W, windows)
end

function weight = energy_weight(window : mat)
    weight = 1/max(sqrt(mean(window.^2)), 1e-9)
end

function W = dst2d_analysis(x : mat, windows)
    J = numel(windows)-1
    check_size("build_energyweighted_dst2d: the image", x, size(windows[J]))
    X = fft2(x)
    W = cell(J+1)
    for j = 0..J-1
        W[j] = cell(numel(windows[j]))
        for k = 0..numel(windows[j])-1
            W[j][k] = windowed(X, windows[j][k]*energy_weight(windows[j][k]), x)
        end
    end
    W[J] = windowed(X, windows[J]*energy_weight(windows[J]), x)
end

function x = dst2d_synthesis(W, windows)
    J = numel(windows)-1
    X = fft2(W[J]).*(windows[J]/energy_weight(windows[J]))
    for j = 0..J-1
        for k = 0..numel(windows[j])-1
            X += fft2(W[j][k]).*(windows[j][k]/energy_weight(windows[j][k]))
        end
    end
    x = cast_like(real(ifft2(X)), W[J])
end

% Function: lincell
% The entries of nested cells, in order, as one list; arrays are the same ones, so that what is done to them in place is
% seen in the nested cells.
%
% :function y = lincell(w : vec[??])
function y = lincell(w)
    y = cell(0)
    for item = w
        y = horzcat(y, iscell(item) ? lincell(item) : {item})
    end
end
