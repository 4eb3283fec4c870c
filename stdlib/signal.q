% Module: signal.q
% One-dimensional signals: windows, recursive filters, spectra over time.  What goes from sample to sample is computed in
% float64; results have the element type of the signal.
import "check.q"

% Function: hann, hamming, blackman
% A symmetric window of n samples, in float64.  Source: Harris: On the use of windows for harmonic analysis (1978).
%
% :function w = hann(n : int)
function w = hann(n : int)
    w = cosine_window("hann", n, 0.5, 0.5, 0)
end

function w = hamming(n : int)
    w = cosine_window("hamming", n, 0.54, 0.46, 0)
end

function w = blackman(n : int)
    w = cosine_window("blackman", n, 0.42, 0.5, 0.08)
end

function w = cosine_window(what, n, a, b, c)
    check_least(strcat(what, ": n"), n, 0)
    t = 2*pi*float64(0..n-1)/max(n-1, 1)
    w = n == 1 ? float64([1]) : a - b*cos(t) + c*cos(2*t)
end

% Function: filter
% A signal after the filter with the transfer function b/a: a[0]*y[n] is the sum of b[k]*x[n-k] less the sum of a[k]*y[n-k]
% over k >= 1.  What is before the first sample counts as 0.
%
% Parameters:
% b, a - the coefficients, of z^0, z^-1 …; a[0] is not 0
% x - the signal
% zi - the state at its beginning, max(numel(a), numel(b))-1 numbers; null is zeros
%
% Returns:
% y - the filtered signal
% zf - the state at its end, in float64: zi of the signal that follows
%
% :function [y, zf] = filter(b : vec, a : vec, x : vec, zi = null)
function [y, zf] = filter(b : vec, a : vec, x : vec, zi = null)
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
% Returns:
% S - a complex mat of floor(n/2)+1 rows
% f - the frequency of each row, rate*(0..floor(n/2))/n
% t - the time in the middle of the piece of each column, in float64
%
% :function [S, f, t] = spectrogram(x : vec, n : int = 256, hop = null, window = null, rate : scalar = 1)
function [S, f, t] = spectrogram(x : vec, n : int = 256, hop = null, window = null, rate : scalar = 1)
    check_least("spectrogram: n", n, 1)
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
%
% :function y = unwrap(p : vec)
function y = unwrap(p : vec)
    y = copy(p)
    if numel(p) > 1
        turns = diff(float64(p))/(2*pi)
        jumps = cumsum(sign(turns).*ceil(abs(turns) - 0.5))
        y[1..numel(p)-1] = p[1..numel(p)-1] - 2*pi*jumps
    endif
end

% Function: hilbert
% The analytic signal: its real part is x, its imaginary part the Hilbert transform of x; abs gives the envelope.
% Source: Marple: Computing the discrete-time analytic signal via FFT (1999).
%
% :function z = hilbert(x : vec)
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
