% Module: signal.q
% One-dimensional signals: windows, recursive filters, spectra over time.  What goes from sample to sample is computed in
% float64; results have the element type of the signal.
import "check.q"

% Function: hann, hamming, blackman
% A window of n samples, in float64; symmetric, or "periodic" for spectra: n samples of the window of n+1.
% Source: Harris: On the use of windows for harmonic analysis (1978).
function w = hann(n : int, kind : string = "symmetric")
    w = cosine_window("hann", n, 0.5, 0.5, 0, kind)
end

function w = hamming(n : int, kind : string = "symmetric")
    w = cosine_window("hamming", n, 0.54, 0.46, 0, kind)
end

function w = blackman(n : int, kind : string = "symmetric")
    w = cosine_window("blackman", n, 0.42, 0.5, 0.08, kind)
end

function w = cosine_window(what, n, a, b, c, kind)
    check_least(strcat(what, ": n"), n, 0)
    assert(kind == "symmetric" || kind == "periodic", what, ": kind must be symmetric or periodic, got ", kind)
    t = 2*pi*float64(0..n-1)/max(kind == "periodic" ? n : n-1, 1)
    w = n == 1 ? float64([1]) : a - b*cos(t) + c*cos(2*t)
end

% Function: filter
% A signal after the filter with the transfer function b/a: a[0]*y[n] is the sum of b[k]*x[n-k] less the sum of a[k]*y[n-k]
% over k >= 1.  What is before the first sample counts as 0.
%
% Parameters:
% b, a - the real coefficients, of z^0, z^-1 …; a[0] is not 0
% x - the signal, which may be complex
% zi - the state at its beginning, max(numel(a), numel(b))-1 numbers; null is zeros
%
% Returns:
% y - the filtered signal
% zf - the state at its end, in float64: zi of the signal that follows
function [y, zf] = filter(b : vec, a : vec, x : vec, zi = null)
    check_filled("filter: b", b)
    assert(numel(a) > 0 && a[0] != 0, "filter: a[0] must not be 0, got ", a)
    n = max(numel(a), numel(b))
    ahead = zeros_like(float64([0]), n)
    ahead[0..numel(b)-1] = float64(b)/a[0]
    back = zeros_like(ahead)
    back[0..numel(a)-1] = float64(a)/a[0]
    state = zeros_like(ahead, n+1)
    if !isnull(zi) && numel(zi) > 0
        assert(numel(zi) == n-1, "filter: zi must have max(numel(a), numel(b))-1 elements, ", n-1, ", got ", numel(zi))
        state[0..n-2] = float64(zi)
    endif
    y = uninit_like(x)
    for i = 0..numel(x)-1
        v = x[i]
        out = ahead[0]*v + state[0]
        for k = 1..n-1
            state[k-1] = ahead[k]*v + state[k] - back[k]*out
        end
        y[i] = out
    end
    zf = state[0..n-2]
end

function [y, zf] = filter(b : scalar, a, x : vec, zi = null)
    [y, zf] = filter(float64([b]), a, x, zi)
end
function [y, zf] = filter(b : vec, a : scalar, x : vec, zi = null)
    [y, zf] = filter(b, float64([a]), x, zi)
end
function [y, zf] = filter(b, a, x : [cvec|vec[complex128]], zi = null)
    [re, zre] = filter(b, a, real(x), isnull(zi) ? null : real(zi))
    [im, zim] = filter(b, a, imag(x), isnull(zi) ? null : imag(zi))
    y = complex(re, im)
    zf = complex(zre, zim)
end
function [y, zf] = filter(b, a, x : mat, zi = null)
    assert(check_real(b) && check_real(a), "filter: b and a must be real, got ", check_got(b), " and ", check_got(a))
    assert(size(x,1) == 1, "filter: x must be a vec or one column, got size ", size(x))
    [y, zf] = filter(b, a, reshape(x, [1,numel(x)]), zi)
    y = transpose(y)
end

% Function: spectrogram
% The spectra of windowed pieces of a signal: column k belongs to the samples from k*hop on, row f to the frequency f/n
% per sample.
%
% Parameters:
% x - a real signal of at least n samples
% n - how many samples a piece has
% hop - how far the next piece begins; null is n/2
% window - n weights; null is hann(n)
% rate - samples per unit of time, for f and t
%
% MATLAB's spectrogram(x, window, noverlap, nfft, fs) is recognized by a window of several weights, or by nfft, which
% must be the length of the window; a number is the length of a window of hamming.
%
% Returns:
% S - a complex mat of floor(n/2)+1 rows
% f - the frequency of each row, rate*(0..floor(n/2))/n
% t - the time in the middle of the piece of each column, in float64
function [S, f, t] = spectrogram(x : vec, n = 256, hop = null, window = null, rate : scalar = 1)
    if numel(n) > 1 || (isnumeric(window) && numel(window) == 1)
        weights = numel(n) > 1 ? n : hamming(n)
        overlap = is_default(hop) ? floor(numel(weights)/2) : hop
        nfft = is_default(window) ? numel(weights) : window
        assert(isequal(nfft, numel(weights)), "spectrogram: nfft must be the length of the window, ", numel(weights), _
               ", got ", check_got(nfft), "; stft(x, window, noverlap, nfft, fs) takes others")
        assert(check_real(overlap) && numel(overlap) == 1 && all(overlap >= 0 && overlap < numel(weights)),
               "spectrogram: noverlap must be from 0 to ", numel(weights)-1, ", got ", check_got(overlap))
        [n, hop, window] = {numel(weights), numel(weights) - overlap, weights}
    endif
    check_whole("spectrogram: n", n, 1)
    assert(numel(x) >= n, "spectrogram: x must have at least n samples, ", n, ", got ", numel(x))
    step = isnull(hop) ? max(int(n/2), 1) : hop
    check_whole("spectrogram: hop", step, 1)
    weights = cast_like(isnull(window) ? hann(n) : window, x)
    assert(numel(weights) == n, "spectrogram: window must have n weights, ", n, ", got ", numel(weights))
    starts = step*float64(0..floor((numel(x)-n)/step))
    places = transpose(starts) + float64(0..n-1)
    pieces = reshape(x[reshape(places, [1,numel(places)])], [numel(starts),n])
    S = transpose(fft1(pieces.*weights, 1)[:,0..int(n/2)])
    f = rate*float64(0..int(n/2))/n
    t = (starts + n/2)/rate
end

% Function: unwrap
% Angles without jumps: multiples of 2 pi are added wherever neighbours differ by more than pi.
{!adjoint unwrap_rule}
function y = unwrap(p : vec)
    y = copy(p)
    if numel(p) > 1
        turns = diff(float64(p))/(2*pi)
        jumps = cumsum(sign(turns).*ceil(abs(turns) - 0.5))
        y[1..numel(p)-1] = p[1..numel(p)-1] - 2*pi*jumps
    endif
end

unwrap_rule = (p, y, dy) -> dy

% Function: hilbert
% The analytic signal: its real part is x, its imaginary part the Hilbert transform of x; abs gives the envelope.
% Source: Marple: Computing the discrete-time analytic signal via FFT (1999).
function z = hilbert(x : vec)
    n = numel(x)
    assert(n > 0, "hilbert: x has no samples")
    h = zeros_like(x)
    h[0] = 1
    h[1..int((n-1)/2)] = 2
    if mod(n, 2) == 0
        h[n/2] = 1
    endif
    z = ifft1(fft1(x).*h)
end

% -- more windows ------------------------------------------------------------------------------------------------------

% Positions -1 … 1 of n samples, and 0 of one.
function t = window_axis(what, n)
    check_whole(strcat(what, ": n"), n, 0)
    t = n == 1 ? float64([0]) : 2*float64(0..n-1)/max(n-1, 1) - 1
end

function w = window_of_cosines(what, n, c)
    t = pi*(window_axis(what, n) + 1)
    w = 0*t
    for k = 0..numel(c)-1
        w = w + (-1)^k*c[k]*cos(k*t)
    end
    w = n == 1 ? float64([1]) : w
end

% Function: bartlett, triang, bohmanwin, parzenwin, blackmanharris, nuttallwin, flattopwin, rectwin
% Symmetric windows of n samples, in float64, as in MATLAB and scipy.signal.windows.
function w = bartlett(n : int)
    w = 1 - abs(window_axis("bartlett", n))
end

function w = triang(n : int)
    check_whole("triang: n", n, 0)
    w = 1 - abs(2*float64(0..n-1) - (n-1))/(n + mod(n, 2))
end

function w = bohmanwin(n : int)
    t = abs(window_axis("bohmanwin", n))
    w = t >= 1 ? 0 : (1-t).*cos(pi*t) + sin(pi*t)/pi
end

function w = parzenwin(n : int)
    check_whole("parzenwin: n", n, 0)
    t = abs(2*float64(0..n-1) - (n-1))/max(n, 1)
    w = t <= (n-1)/2/max(n, 1) ? 1 - 6*t.^2.*(1-t) : 2*(1-t).^3
end

function w = blackmanharris(n : int)
    w = window_of_cosines("blackmanharris", n, float64([0.35875, 0.48829, 0.14128, 0.01168]))
end

function w = nuttallwin(n : int)
    w = window_of_cosines("nuttallwin", n, float64([0.3635819, 0.4891775, 0.1365995, 0.0106411]))
end

function w = flattopwin(n : int)
    w = window_of_cosines("flattopwin", n, float64([0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368]))
end

function w = rectwin(n : int)
    w = ones_like(float64([0]), n)
end

% Function: kaiser
% The window of Kaiser: a larger beta has lower side lobes and a wider main lobe.
function w = kaiser(n : int, beta : scalar = 0.5)
    check_least("kaiser: beta", beta, 0)
    w = bessel_i0(beta*sqrt(max(1 - window_axis("kaiser", n).^2, 0)))/bessel_i0(float64([beta]))[0]
end

% The modified Bessel function of order 0, by its series.
function y = bessel_i0(x)
    square = x.^2/4
    term = 1 + 0*x
    y = term
    k = 1
    while numel(x) > 0 && max(term./y) > 1e-17
        term = term.*square/k^2
        y = y + term
        k += 1
    end
end

% Function: gausswin
% A Gaussian whose standard deviation is (n-1)/(2*alpha) samples.
function w = gausswin(n : int, alpha : scalar = 2.5)
    check_least("gausswin: alpha", alpha, 0)
    w = exp(-0.5*(alpha*window_axis("gausswin", n)).^2)
end

% Function: tukeywin
% A window that is flat in the middle, with a fraction r of cosines at its ends: 0 is rectwin, 1 is hann.
function w = tukeywin(n : int, r : scalar = 0.5)
    assert(r >= 0 && r <= 1, "tukeywin: r must be 0 to 1, got ", r)
    t = abs(window_axis("tukeywin", n))
    w = t <= 1-r ? 1 : 0.5*(1 + cos(pi*(t - 1 + r)/max(r, 1e-300)))
end

% Function: chebwin
% The window of Dolph and Chebyshev, whose side lobes all are `at` decibels below the main lobe.
function w = chebwin(n : int, at : scalar = 100)
    check_whole("chebwin: n", n, 1)
    assert(at > 0 && at < inf, "chebwin: at must be greater than 0 and finite, got ", at)
    if n == 1
        w = float64([1])
        return
    endif
    m = n - 1
    k = float64(0..m)
    x = cosh(acosh(10^(at/20))/m)*cos(pi*k/n)
    inner = cos(m*acos(clamp(x, -1, 1)))
    outer = cosh(m*acosh(max(abs(x), 1)))
    p = abs(x) <= 1 ? inner : x > 0 ? outer : (2*mod(n, 2) - 1)*outer
    if mod(n, 2) == 1
        f = real(fft1(p))
        h = (n+1)/2
        w = horzcat(f[h-1..-1..1], f[0..h-1])
    else
        f = real(fft1(complex(p.*cos(pi*k/n), p.*sin(pi*k/n))))
        h = n/2 + 1
        w = horzcat(f[h-1..-1..1], f[1..h-1])
    endif
    w = w/max(w)
end

% -- measures and smoothing of signals ---------------------------------------------------------------------------------

% Function: detrend
% A signal, or each column of a matrix, without its straight line of least squares, or without its mean.
%
% Parameters:
% x - a vec, or a mat
% kind - "linear" or "constant", or 1 and 0 as in MATLAB
function y = detrend(x : mat, kind = "linear")
    kind = isequal(kind, 0) ? "constant" : isequal(kind, 1) ? "linear" : kind
    assert(isequal(kind, "linear") || isequal(kind, "constant"), "detrend: kind must be linear or constant, got ",
           isstring(kind) ? kind : check_got(kind))
    if numel(x) == 0
        y = copy(x)
    elseif size(x,0) == 1
        y = reshape(detrend_columns(transpose(x), kind), size(x))
    else
        y = detrend_columns(x, kind)
    endif
end

function y = detrend_columns(x, kind)
    v = float64(x)
    v = v - mean(v, 0)
    n = size(v,0)
    if kind == "linear" && n > 1
        t = transpose(float64(0..n-1)) - (n-1)/2
        v = v - t.*(sum(t.*v, 0)/sum(t.^2))
    endif
    y = cast_like(v, x)
end

% Function: xcorr
% The correlation of two signals at all distances: r[k] is the sum of x[n+lags[k]]*conj(y[n]).
%
% Parameters:
% x, y - signals, real or complex; the shorter one is continued by zeros. y null is x, and scaling may take the position
%     of y or maxlag
% maxlag - the largest distance; null is all
% scaling - "none", "biased" (divided by the length), "unbiased" (by the number of terms) or "coeff" (1 at distance 0 for y = x)
%
% Returns:
% r - the correlation at lags, in float64
% lags - -maxlag … maxlag
function [r, lags] = xcorr(x, y = null, maxlag = null, scaling : string = "none")
    if isstring(y)
        [y, scaling] = {null, y}
    elseif isstring(maxlag)
        [maxlag, scaling] = {null, maxlag}
    endif
    other = isnull(y) ? x : y
    assert(isvec(x) && isvec(other) && numel(x) > 0 && numel(other) > 0, _
           "xcorr: x and y must be signals with samples, got sizes ", size(x), " and ", size(other))
    n = max(numel(x), numel(other))
    a = xcorr_padded(x, n)
    b = xcorr_padded(other, n)
    most = isnull(maxlag) ? n-1 : maxlag
    check_whole("xcorr: maxlag", most, 0)
    r = conv(a, fliplr(conj(b)))
    if most > n-1
        none = zeros_like(r, most-n+1)
        r = horzcat(none, r, none)
    else
        r = r[n-1-most..n-1+most]
    endif
    lags = float64(-most..most)
    match scaling with
    | "none" -> r = r
    | "biased" -> r = r/n
    | "unbiased" -> r = r./max(n - abs(lags), 1)
    | "coeff" | "normalized" -> r = r/sqrt(squared_norm(a)*squared_norm(b))
    | _ -> error("xcorr: scaling must be none, biased, unbiased or coeff, got %s", scaling)
    end
end

function y = xcorr_padded(x, n)
    v = isreal(x) ? float64(x) : complex(float64(real(x)), float64(imag(x)))
    y = numel(v) == n ? v : horzcat(v, zeros_like(v, n - numel(v)))
end

% Positions of maxima: the middle of every flat top that falls on both sides. A top of one sample takes no branch, because
% nobody can predict it in noise.
function n = peak_maxima(x : vec, at : vec[int])
    n = 0
    last = numel(x) - 1
    for i = 1..last-1
        rises = x[i-1] < x[i]
        at[n] = i
        n += rises && x[i+1] < x[i] ? 1 : 0
        if rises && x[i+1] == x[i]
            ahead = i + 1
            while ahead < last && x[ahead] == x[i]
                ahead += 1
            end
            if x[ahead] < x[i]
                at[n] = int(floor((i + ahead - 1)/2))
                n += 1
            endif
        endif
    end
end

% Keeps of peaks that are nearer than distance the highest.
function [] = peak_distances(at : vec[int], keep : vec[uint8], order : vec[int], distance)
    for i = numel(order)-1..-1..0
        j = order[i]
        if keep[j] > 0
            k = j - 1
            while k >= 0 && at[j] - at[k] < distance
                keep[k] = 0
                k -= 1
            end
            k = j + 1
            while k < numel(at) && at[k] - at[j] < distance
                keep[k] = 0
                k += 1
            end
        endif
    end
end

% For each peak the lowest sample on one side (way -1 or 1), up to a higher sample, the wall. A peak that is not higher is
% passed at once together with all that lies before its own wall, so that the time grows linearly.
function [] = peak_bases(x : vec, at : vec[int], base : vec[int], way : int)
    wall = zeros_like(at)
    beyond = zeros_like(at) % the peak at or behind the wall
    last = numel(at) - 1
    for m = 0..last
        j = way < 0 ? m : last - m
        top = x[at[j]]
        low = top
        lowest = at[j]
        i = at[j] + way
        next = j + way
        while i >= 0 && i < numel(x) && x[i] <= top
            from = i
            if next >= 0 && next <= last && at[next] == i
                from = base[next]
                i = wall[next]
                next = beyond[next]
            else
                i += way
            endif
            if x[from] < low
                low = x[from]
                lowest = from
            endif
        end
        base[j] = lowest
        wall[j] = i
        beyond[j] = next
    end
end

% Prominences and widths at the height peak - rel_height*prominence.
function [] = peak_shapes(x : vec, at : vec[int], prominence : vec[float64], width : vec[float64], rel_height)
    [lefts, rights] = {zeros_like(at), zeros_like(at)}
    peak_bases(x, at, lefts, -1)
    peak_bases(x, at, rights, 1)
    peak_widths(x, at, lefts, rights, prominence, width, rel_height)
end

function [] = peak_widths(x : vec, at : vec[int], lefts : vec[int], rights : vec[int], prominence : vec[float64], _
                          width : vec[float64], rel_height)
    for j = 0..numel(at)-1
        p = at[j]
        top = x[p]
        left = lefts[j]
        right = rights[j]
        prominence[j] = top - max(x[left], x[right])
        h = top - rel_height*prominence[j]
        i = p
        while i > left && h < x[i]
            i -= 1
        end
        from = i + 0.0
        if x[i] < h
            from = i + (h - x[i])/(x[i+1] - x[i])
        endif
        i = p
        while i < right && h < x[i]
            i += 1
        end
        to = i + 0.0
        if x[i] < h
            to = i - (h - x[i])/(x[i-1] - x[i])
        endif
        width[j] = to - from
    end
end

% Function: findpeaks
% The local maxima of a signal, and of these the ones that are high, prominent, wide and far apart enough, as
% scipy.signal.find_peaks.
%
% Parameters:
% x - a real signal
% height - least height; null is all. The same holds for the next four
% threshold - least height above both neighbours
% distance - least distance in samples; of nearer peaks the highest remain
% prominence - least height above the higher one of the lowest points on both sides, up to a higher peak
% width - least width in samples
% rel_height - where the width is measured: 0 is the top of the peak, 1 its foot; null is 0.5
% more - pairs of MATLAB take the position of height: "MinPeakHeight" (peaks are higher), "Threshold", "MinPeakDistance"
%     (peaks are further apart), "MinPeakProminence", "MinPeakWidth", "NPeaks" and "SortStr" ("none", "ascend",
%     "descend")
%
% Returns:
% pks - the heights
% locs - the positions
% w - the widths
% p - the prominences
function [pks, locs, w, p] = findpeaks(x : vec, height = null, threshold = null, distance = null, prominence = null, _
                                       width = null, rel_height = null, ...more)
    [above, most, direction] = {-inf, inf, "none"}
    if isstring(height)
        [high, threshold, apart, prominence, width, count, sorted_] = named_values("findpeaks",
            {"MinPeakHeight", "Threshold", "MinPeakDistance", "MinPeakProminence", "MinPeakWidth", "NPeaks",
             "SortStr"}, height, threshold, distance, prominence, width, rel_height, ...more)
        [height, distance, rel_height] = {null, isnull(apart) ? null : floor(apart) + 1, null}
        [above, most] = {isnull(high) ? -inf : high, isnull(count) ? inf : count}
        direction = isnull(sorted_) ? "none" : sorted_
        assert(direction == "none" || direction == "ascend" || direction == "descend",
               "findpeaks: SortStr must be none, ascend or descend, got ", isstring(direction) ? direction : check_got(direction))
    else
        check_no_more("findpeaks", more)
    endif
    rel_height = isnull(rel_height) ? 0.5 : rel_height
    check_least("findpeaks: rel_height", rel_height, 0)
    locs = vec[int](max(numel(x), 1))
    n = peak_maxima(x, locs)
    locs = locs[0..n-1]
    locs = locs[x[locs] > above]
    if !isnull(height)
        locs = locs[x[locs] >= height]
    endif
    if !isnull(threshold)
        locs = locs[min(x[locs] - x[locs-1], x[locs] - x[locs+1]) >= threshold]
    endif
    if !isnull(distance) && numel(locs) > 0
        assert(distance >= 1, "findpeaks: distance must be at least 1, got ", distance)
        [_, order] = sort(x[locs])
        keep = uint8(ones(numel(locs)))
        peak_distances(locs, keep, int(order), ceil(distance))
        locs = locs[keep > 0]
    endif
    w = zeros_like(float64([0]), numel(locs))
    p = zeros_like(float64([0]), numel(locs))
    peak_shapes(x, locs, p, w, rel_height)
    keep = (isnull(prominence) ? p >= 0 : p >= prominence) && (isnull(width) ? w >= 0 : w >= width)
    [locs, w, p] = {float64(locs[keep]), w[keep], p[keep]}
    if direction != "none"
        [_, at] = sort(x[locs], direction)
        [locs, w, p] = {locs[at], w[at], p[at]}
    endif
    if most < numel(locs)
        first = 0..most-1
        [locs, w, p] = {locs[first], w[first], p[first]}
    endif
    pks = x[locs]
end

% Function: medfilt1
% Every sample becomes the median of the n samples around it, n odd; outside of the signal they are 0.
function y = medfilt1(x : vec, n : int = 3)
    assert(n >= 1 && n <= 511 && mod(n, 2) == 1, "medfilt1: n must be odd, 1 to 511, got ", n)
    r = (n-1)/2
    none = zeros_like(x, r)
    y = n == 1 ? copy(x) : medfilt(horzcat(none, x, none), r)[r..r+numel(x)-1]
end

% The weights of the derivative of a polynomial of least squares at position at of the frame.
function c = sgolay_weights(order, framelen, deriv, at)
    t = float64(0..framelen-1) - at
    A = mat[float64](framelen, order+1)
    for k = 0..order
        A[:,k] = transpose(t.^k)
    end
    c = deriv > order ? zeros_like(t) : tgamma(deriv+1)*reshape(pinv(A)[deriv,:], [1,framelen])
end

% Function: sgolayfilt
% A signal smoothed by polynomials of least squares, each through the framelen samples around a sample; at both ends the
% polynomial of the first and last frame is used. Source: Savitzky, Golay: Smoothing and differentiation of data by
% simplified least squares procedures (1964); as scipy.signal.savgol_filter.
%
% Parameters:
% x - a signal of at least framelen samples
% order - of the polynomials, less than framelen
% framelen - an odd number
% deriv - which derivative is computed, 0 to order
% delta - the distance of samples, for derivatives
function y = sgolayfilt(x : vec, order : int, framelen : int, deriv : int = 0, delta : scalar = 1)
    check_whole("sgolayfilt: order", order, 0)
    assert(framelen > order && mod(framelen, 2) == 1, "sgolayfilt: framelen must be odd and greater than order, ", order, ", got ", framelen)
    check_whole("sgolayfilt: deriv", deriv, 0)
    n = numel(x)
    assert(n >= framelen, "sgolayfilt: x must have at least framelen samples, ", framelen, ", got ", n)
    v = float64(x)
    r = (framelen-1)/2
    y = zeros_like(v)
    y[r..n-1-r] = conv(v, fliplr(sgolay_weights(order, framelen, deriv, r)), "valid")
    for i = 0..r-1
        y[i] = sum(sgolay_weights(order, framelen, deriv, i).*v[0..framelen-1])
        y[n-1-i] = sum(sgolay_weights(order, framelen, deriv, framelen-1-i).*v[n-framelen..n-1])
    end
    y = cast_like(y/delta^deriv, x)
end

% Function: downsample
% Every n-th sample, from sample `phase` on; without a filter (decimate has one).
function y = downsample(x : vec, n : int, phase : int = 0)
    check_whole("downsample: n", n, 1)
    assert(phase >= 0 && phase < n, "downsample: phase must be 0 to n-1, got ", phase)
    y = x[phase..n..numel(x)-1]
end

% Function: envelope
% The length of the analytic signal of x without its mean, above and below the mean.
function [upper, lower] = envelope(x : vec)
    m = mean(x)
    a = abs(hilbert(x - m))
    upper = m + a
    lower = m - a
end

% Function: rms
% The square root of the mean of the squares, of all elements or along dim.
function y = rms(x, dim = null)
    y = isnull(dim) ? sqrt(mean(abs(x).^2)) : sqrt(mean(abs(x).^2, dim))
end

% Function: chirp
% A cosine whose frequency is f0 at time 0 and f1 at time t1.
%
% Parameters:
% t - times
% method - how the frequency changes: "linear", "quadratic" or "logarithmic"
% phi - the phase at time 0 in degrees
function y = chirp(t : vec, f0 : scalar, t1 : scalar, f1 : scalar, method : string = "linear", phi : scalar = 0)
    assert(t1 > 0, "chirp: t1 must be greater than 0, got ", t1)
    u = float64(t)
    match method with
    | "linear" -> turns = f0*u + (f1 - f0)/(2*t1)*u.^2
    | "quadratic" -> turns = f0*u + (f1 - f0)/(3*t1^2)*u.^3
    | "logarithmic" ->
        assert(f0 > 0 && f1 > 0, "chirp: f0 and f1 must be greater than 0, got ", f0, " and ", f1)
        turns = f0 == f1 ? f0*u : f0*t1/log(f1/f0)*((f1/f0).^(u/t1) - 1)
    | _ -> error("chirp: method must be linear, quadratic or logarithmic, got %s", method)
    end
    y = cast_like(cos(2*pi*turns + phi*pi/180), t)
end

% Function: square, sawtooth
% Signals of period 2 pi: square is 1 in the first fraction `duty` of the period and -1 in the rest; sawtooth rises from -1
% to 1 in the fraction `width` and falls in the rest.
function y = square(t : vec, duty : scalar = 0.5)
    assert(duty >= 0 && duty <= 1, "square: duty must be 0 to 1, got ", duty)
    y = mod(t, 2*pi) < 2*pi*duty ? ones_like(t) : 0 - ones_like(t)
end

function y = sawtooth(t : vec, width : scalar = 1)
    assert(width >= 0 && width <= 1, "sawtooth: width must be 0 to 1, got ", width)
    u = mod(t, 2*pi)/(2*pi)
    y = u < width ? 2*u/max(width, 1e-300) - 1 : (width + 1 - 2*u)/max(1 - width, 1e-300)
end

% Function: czt
% The chirp z-transform: X[k] is the sum of x[n]*z^(-n) at the points z = a*w^(-k), by Fourier transforms. With other
% points than all roots of 1 it looks closely at some frequencies. As in MATLAB and scipy.signal.
% Source: Rabiner, Schafer, Rader: The chirp z-transform algorithm and its application (1969).
%
% Parameters:
% x - a signal, real or complex
% m - how many points; null is the length of x
% w - the ratio of points; null is exp(-2j*pi/m)
% a - the first point
function X = czt(x, m = null, w = null, a = 1)
    assert(isnumeric(x) && numel(x) > 0 && numel(x) == max(size(x)), "czt: x must be a signal with samples, got ",
           isnumeric(x) ? size(x) : type(x))
    x = reshape(x, [1,numel(x)])
    n = numel(x)
    m = is_default(m) ? n : m
    check_whole("czt: m", m, 1)
    assert(is_default(w) || (isnumeric(w) && numel(w) == 1 && abs(w) > 0),
           "czt: w must be a number other than 0, got ", check_got(w))
    assert(isnumeric(a) && numel(a) == 1 && abs(a) > 0, "czt: a must be a number other than 0, got ", check_got(a))
    % log(w) by its parts; squares of positions are halved modulo m where w is the root of 1, for its accuracy.
    [size_, turn] = is_default(w) ? {0, -2*pi/m} : {log(abs(w)), angle(w)}
    square = float64(1-n..max(m, n)-1).^2/2
    turned = turn*(is_default(w) ? mod(square, m) : square)
    power = exp(size_*square)
    chirp_ = complex(power.*cos(turned), power.*sin(turned))
    k = float64(0..n-1)
    start = abs(a).^(0-k)
    start = complex(start.*cos(angle(a)*k), 0 - start.*sin(angle(a)*k))
    total = 2^ceil(log2(n + m - 1))
    y = complex(float64(zeros(total)), float64(zeros(total)))
    y[0..n-1] = complex(float64(real(x)), float64(imag(x))).*start.*chirp_[n-1..2*n-2]
    v = 0*y
    v[0..n+m-2] = 1./chirp_[0..n+m-2]
    X = ifft1(fft1(y).*fft1(v))[n-1..n+m-2].*chirp_[n-1..n+m-2]
end

% Function: taylorwin
% The window of Taylor of n samples, in float64, as in MATLAB; its maximum is more than 1. scipy.signal.windows.taylor
% divides by it unless norm=False is given, and has sll with the other sign.
% Source: Carrara, Goodman, Majewski: Spotlight synthetic aperture radar (1995).
%
% Parameters:
% n - how many samples
% nbar - how many side lobes have almost the same height
% sll - height of the side lobes in decibels, less than 0
function w = taylorwin(n : int, nbar : int = 4, sll : scalar = -30)
    check_whole("taylorwin: n", n, 0)
    check_whole("taylorwin: nbar", nbar, 1)
    assert(sll < 0, "taylorwin: sll must be less than 0, got ", sll)
    A = acosh(10^(-sll/20))/pi
    scale = nbar^2/(A^2 + (nbar - 0.5)^2)
    k = float64(1..nbar-1)
    at = (float64(0..n-1) - n/2 + 0.5)/n
    w = 1 + 0*at
    for m = k
        above = prod(1 - m^2/scale./(A^2 + (k - 0.5).^2))
        others = k[k != m]
        below = numel(others) > 0 ? prod(1 - m^2./others.^2) : 1
        w = w + (mod(m, 2) == 1 ? 1 : -1)*above/below*cos(2*pi*m*at)
    end
end

% Function: gauspuls
% A wave under a Gaussian, as in MATLAB and scipy.signal.gausspulse.
%
% Parameters:
% t - times
% fc - frequency of the wave
% bw - bandwidth as a fraction of fc
% bwr - level in decibels where the bandwidth is measured, less than 0
%
% Returns:
% yi - the wave, 1 at time 0
% yq - the same a quarter of a period later
% ye - the Gaussian
function [yi, yq, ye] = gauspuls(t, fc : scalar = 1000, bw : scalar = 0.5, bwr : scalar = -6)
    check_finite("gauspuls: t", t)
    assert(fc > 0 && bw > 0, "gauspuls: fc and bw must be greater than 0, got ", fc, " and ", bw)
    assert(bwr < 0, "gauspuls: bwr must be less than 0, got ", bwr)
    x = float64(t)
    ye = exp((pi*fc*bw*x).^2/(4*log(10^(bwr/20))))
    yi = ye.*cos(2*pi*fc*x)
    yq = ye.*sin(2*pi*fc*x)
end

% Function: movsum, movmean
% The sum and the mean of the k elements around each one, of an even k one more before it, as in MATLAB; at the ends, of
% those that there are.
%
% Parameters:
% x - a signal
% k - how many elements, or [before, after]
function y = movsum(x : vec, k)
    y = moving_sum("movsum", float64(x), k)
end

function y = movmean(x : vec, k)
    y = moving_sum("movmean", float64(x), k)./moving_sum("movmean", float64(ones(numel(x))), k)
end

function y = moving_sum(what, x, k)
    check_whole(strcat(what, ": k"), k, numel(k) == 2 ? 0 : 1, numel(k) == 2 ? 2 : 1)
    [before, after] = numel(k) == 2 ? {k[0], k[1]} : {floor(k/2), floor((k-1)/2)}
    n = numel(x)
    y = n > 0 ? conv(x, float64(ones(before + after + 1)))[after..after+n-1] : x
end
