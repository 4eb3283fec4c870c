% Module: spectral.q
% Spectra of signals: power spectral densities, coherence, short-time Fourier transforms. Arguments have the order of MATLAB;
% their defaults follow scipy.signal: periodic windows of hann of 256 samples that overlap by half.
import "signal.q"

% The weights of a window that is given as null, a length or weights.
function w = spectral_window(what, window, n)
    if is_default(window) || isscalar(window)
        m = is_default(window) ? min(256, n) : window
        check_whole(strcat(what, ": window"), m, 1)
        w = m == 1 ? float64([1]) : hann(m+1)[0..m-1]
    else
        w = float64(window)
    endif
    assert(numel(w) > 0 && numel(w) <= n, what, ": a window must not be empty or longer than x, ", n, ", got ", numel(w))
end

% The length of the window, the distance between pieces and the length of their transforms.
function [n, step, m] = spectral_sizes(what, w, noverlap, nfft)
    n = numel(w)
    over = is_default(noverlap) ? floor(n/2) : noverlap
    check_whole(strcat(what, ": noverlap"), over, 0)
    assert(over < n, what, ": noverlap must be less than the length of the window, ", n, ", got ", over)
    step = n - over
    m = is_default(nfft) ? n : nfft
    check_whole(strcat(what, ": nfft"), m, 1)
    assert(m >= n, what, ": nfft must be at least the length of the window, ", n, ", got ", m)
end

% The spectra of pieces of x, a row for each; every piece lacks its mean (or line), is weighted, and continued by zeros.
function S = spectral_pieces(what, x, w, step, nfft, trend)
    n = numel(w)
    count = floor((numel(x)-n)/step) + 1
    places = step*transpose(float64(0..count-1)) + float64(0..n-1)
    pieces = reshape(x[reshape(places, [1,numel(places)])], [count,n])
    match trend with
    | "constant" -> pieces = pieces - mean(pieces, 1)
    | "linear" -> pieces = transpose(detrend_columns(transpose(pieces), "linear"))
    | "none" -> pieces = pieces
    | _ -> error("%s: trend must be constant, linear or none, got %s", what, trend)
    end
    weighted = pieces.*w
    if nfft > n
        weighted = horzcat(weighted, zeros_like(weighted, count, nfft-n))
    endif
    S = fft1(weighted, 1)[:,0..int(floor(nfft/2))]
end

function [P, f] = spectral_density(what, x, y, window, noverlap, nfft, fs, trend, scaling)
    check_alike(strcat(what, ": x and y"), x, y)
    check_filled(strcat(what, ": x"), x)
    assert(fs > 0 && fs < inf, what, ": fs must be greater than 0 and finite, got ", fs)
    assert(scaling == "density" || scaling == "spectrum", what, ": scaling must be density or spectrum, got ", scaling)
    w = spectral_window(what, window, numel(x))
    [n, step, m] = spectral_sizes(what, w, noverlap, nfft)
    A = spectral_pieces(what, float64(x), w, step, m, trend)
    B = isequal(x, y) ? A : spectral_pieces(what, float64(y), w, step, m, trend)
    P = reshape(mean(conj(A).*B, 0), floor(m/2)+1)
    P = P/(scaling == "density" ? fs*sum(w.^2) : sum(w)^2)
    twice = ones_like(float64([0]), floor(m/2)+1)*2
    twice[0] = 1
    if mod(m, 2) == 0
        twice[m/2] = 1
    endif
    P = P.*twice
    f = fs*float64(0..floor(m/2))/m
end

% Function: pwelch
% The power spectral density of a real signal: the mean over weighted pieces that overlap. Source: Welch: The use of fast
% Fourier transform for the estimation of power spectra (1967); as scipy.signal.welch.
%
% Parameters:
% x - a real signal
% window - weights, or the length of a periodic window of hann; null is 256, or as long as x
% noverlap - how many samples neighbouring pieces share; null is half a window
% nfft - length of the transforms; null is that of the window
% fs - the sampling rate
% trend - what every piece loses: "constant" (its mean), "linear" or "none"
% scaling - "density" (power per frequency) or "spectrum" (power)
%
% Returns:
% pxx - floor(nfft/2)+1 numbers, in float64; power of negative frequencies is added to the positive ones
% f - the frequencies
function [pxx, f] = pwelch(x : vec, window = null, noverlap = null, nfft = null, fs : scalar = 1, _
                           trend : string = "constant", scaling : string = "density")
    [P, f] = spectral_density("pwelch", x, x, window, noverlap, nfft, fs, trend, scaling)
    pxx = real(P)
end

% Function: cpsd
% The cross power spectral density of two real signals, complex; arguments as for pwelch. It is the mean of conj(X)*Y, as
% scipy.signal.csd; MATLAB has the conjugate.
function [pxy, f] = cpsd(x : vec, y : vec, window = null, noverlap = null, nfft = null, fs : scalar = 1, _
                         trend : string = "constant", scaling : string = "density")
    [pxy, f] = spectral_density("cpsd", x, y, window, noverlap, nfft, fs, trend, scaling)
end

% Function: mscohere
% The coherence of two real signals, 0 to 1 at each frequency: |pxy|^2/(pxx*pyy); arguments as for pwelch.
function [c, f] = mscohere(x : vec, y : vec, window = null, noverlap = null, nfft = null, fs : scalar = 1, _
                           trend : string = "constant")
    [pxy, f] = spectral_density("mscohere", x, y, window, noverlap, nfft, fs, trend, "density")
    pxx = real(spectral_density("mscohere", x, x, window, noverlap, nfft, fs, trend, "density"))
    pyy = real(spectral_density("mscohere", y, y, window, noverlap, nfft, fs, trend, "density"))
    c = abs(pxy).^2./(pxx.*pyy)
end

% Function: periodogram
% The power spectral density of a whole signal, as scipy.signal.periodogram.
%
% Parameters:
% window - as many weights as x has samples; null is all 1
function [pxx, f] = periodogram(x : vec, window = null, nfft = null, fs : scalar = 1, trend : string = "constant", _
                                scaling : string = "density")
    w = is_default(window) ? rectwin(numel(x)) : window
    assert(numel(w) == numel(x), "periodogram: window must have as many weights as x, ", numel(x), ", got ", numel(w))
    [P, f] = spectral_density("periodogram", x, x, w, 0, nfft, fs, trend, scaling)
    pxx = real(P)
end

% Function: stft
% The short-time Fourier transform of a real signal: column k is the spectrum around the sample k*(numel(window)-noverlap).
% Half a window of zeros is added at both ends, and zeros for a last piece, as scipy.signal.stft.
%
% Parameters:
% x - a real signal
% window - weights, or the length of a periodic window of hann; null is 256, or the largest even
%          number of samples that x has, so that istft needs no length
% noverlap - how many samples neighbouring pieces share; null is half a window
% nfft - length of the transforms; null is that of the window
% fs - the sampling rate
%
% Returns:
% S - a complex mat of floor(nfft/2)+1 rows, divided by the sum of the window
% f - the frequency of each row
% t - the time of each column
%
% See also: <istft>, <spectrogram>
function [S, f, t] = stft(x : vec, window = null, noverlap = null, nfft = null, fs : scalar = 1)
    check_filled("stft: x", x)
    if is_default(window) && numel(x) < 256 && numel(x) > 1
        window = numel(x) - mod(numel(x), 2)
    end
    w = spectral_window("stft", window, numel(x))
    [n, step, m] = spectral_sizes("stft", w, noverlap, nfft)
    half = floor(n/2)
    rest = mod(0 - (numel(x) + 2*half - n), step)
    v = float64(x)
    v = horzcat(zeros_like(v, half), v, zeros_like(v, half + rest))
    S = transpose(spectral_pieces("stft", v, w, step, m, "none"))/sum(w)
    f = fs*float64(0..floor(m/2))/m
    t = step*float64(0..size(S,1)-1)/fs
end

% Adds the columns of pieces, weighted, at their places.
function [] = istft_add(y, norm_, pieces, w, step)
    for k = 0..size(pieces,0)-1
        for i = 0..numel(w)-1
            y[k*step+i] += w[i]*pieces[k,i]
            norm_[k*step+i] += w[i]*w[i]
        end
    end
end

% Function: istft
% The signal of a short-time Fourier transform, by weighted overlapping pieces of least squares; arguments as for stft.
%
% Parameters:
% S - from stft
% window - null is a window of even length; give the length of another one
% count - how many samples the signal had; null is all that S covers, with the zeros that stft has added at the end
%
% :function [x, t] = istft(S : cmat, window = null, noverlap = null, nfft = null, fs : scalar = 1, count = null)
function [x, t] = istft(S, window = null, noverlap = null, nfft = null, fs : scalar = 1, count = null)
    length_ = is_default(window) ? 2*(size(S,0)-1) : isscalar(window) ? window : numel(window)
    m = is_default(nfft) ? length_ : nfft
    assert(floor(m/2)+1 == size(S,0), "istft: S must have floor(nfft/2)+1 rows, ", floor(m/2)+1, ", got ", size(S,0))
    w = spectral_window("istft", is_default(window) ? m : window, max(m, 1))
    [n, step, m] = spectral_sizes("istft", w, noverlap, m)
    half = transpose(S)
    last = floor((m-1)/2)
    full = horzcat(half, conj(half[:,last..-1..1]))
    pieces = real(ifft1(full, 1))[:,0..n-1]*sum(w)
    total = n + step*(size(S,1)-1)
    y = zeros_like(float64([0]), total)
    norm_ = zeros_like(y)
    istft_add(y, norm_, pieces, w, step)
    y = norm_ > 1e-10 ? y./max(norm_, 1e-300) : y
    from = floor(n/2)
    to = isnull(count) ? total - from - 1 : from + count - 1
    assert(to < total, "istft: count must be at most ", total - from, ", got ", count)
    x = y[from..to]
    t = float64(0..numel(x)-1)/fs
end
