% Module: filterdesign.q
% Design of digital filters, and filters without phase. Names, arguments and results follow MATLAB and scipy.signal.
% Frequencies are fractions of half the sampling rate, 0 to 1, unless fs is given. Computed in float64; filtered signals have
% the element type of the signal.
import "signal.q"

% The numbers of a specification as a row of float64. A list such as [0.1,0.12] has float32 elements, in scripts and from
% Python; each becomes the shortest decimal number that rounds to it, which is the one that was written.
function y = written_numbers(x)
    y = float64_vec(x)
    if isscalar(x) || type(x) != type(float32(x))
        return
    endif
    v = stop_gradient(y)
    powers = float64([1,1e1,1e2,1e3,1e4,1e5,1e6,1e7,1e8,1e9,1e10,1e11,1e12,1e13,1e14,1e15,1e16,1e17,1e18])
    first = floor(log10(abs(v == 0 ? 1 : v)))
    written = v
    for digits = 9..-1..6
        k = digits - 1 - first
        e = powers[clamp(k, 0, 18)]
        d = k > 0 && k <= 18 ? round(v.*e)./e : v
        written = float32(d) == float32(v) ? d : written
    end
    y = y + (written - v)
end

% A product of complex numbers; 1 if there are none.
function p = zpk_product(z)
    p = complex(1, 0)
    for k = 0..numel(z)-1
        p = p*z[k]
    end
end

% n equal complex numbers.
function z = zpk_repeat(n, re, im)
    z = complex(zeros_like(float64([0]), n) + re, zeros_like(float64([0]), n) + im)
end

function z = zpk_join(a, b)
    z = numel(a) == 0 ? b : numel(b) == 0 ? a : horzcat(a, b)
end

% The coefficients of the polynomial with these roots, real by symmetry.
function c = zpk_polynomial(roots_)
    c = complex(float64([1]), float64([0]))
    nothing = complex(float64([0]), float64([0]))
    for k = 0..numel(roots_)-1
        c = horzcat(c, nothing) - roots_[k].*horzcat(nothing, c)
    end
    c = real(c)
end

% The quadratic factors [1, b, c] of the roots in the upper half plane and of pairs of real roots, n of them.
function f = zpk_quadratics(z, n)
    f = zeros_like(float64([0]), n, 3)
    f[:,0] = 1
    rows = 0
    reals = float64([])
    for k = 0..numel(z)-1
        re = real(z[k])
        im = imag(z[k])
        if abs(im) <= 1e-10*(1 + abs(re))
            reals = horzcat(reals, float64([re]))
        elseif im > 0
            f[rows,1] = -2*re
            f[rows,2] = re*re + im*im
            rows += 1
        endif
    end
    reals = sort(reals)
    for k = 0..2..numel(reals)-1
        a = reals[k]
        b = k+1 < numel(reals) ? reals[k+1] : 0
        f[rows,1] = -(a+b)
        f[rows,2] = a*b
        rows += 1
    end
end

% Function: zpk2sos
% Sections of second order of the filter with zeros z, poles p and gain k: rows [b0, b1, b2, 1, a1, a2]. Poles near the unit
% circle come last, and each pair of poles has the zeros nearest to it; the gain is in the first section.
function sos = zpk2sos(z, p, k : scalar)
    assert(numel(p) >= numel(z), "zpk2sos: a filter needs as many poles as zeros, got ", numel(p), " poles and ", numel(z), " zeros")
    n = max(int((numel(p)+1)/2), 1)
    zeros_ = zpk_quadratics(z, n)
    poles = zpk_quadratics(p, n)
    sos = zeros_like(float64([0]), n, 6)
    distance = abs(1 - sqrt(abs(poles[:,2])))
    free = ones_like(float64([0]), n)
    [_, order] = sort(reshape(distance, [1,n]))
    for s = 0..n-1
        row = order[s]
        c = poles[row,:]
        % The distance of the middle of the zeros and of their product tells how near they are.
        gap = abs(zeros_[:,1] - c[1]) + abs(zeros_[:,2] - c[2])
        gap = free > 0 ? reshape(gap, [1,n]) : inf
        best = find_index_min(gap)
        free[best] = 0
        sos[n-1-s,0..2] = zeros_[best,:]
        sos[n-1-s,3..5] = c
    end
    sos[0,0..2] = k*sos[0,0..2]
end

% Function: sos2tf, zpk2tf
% The coefficients b and a of sections of second order, or of zeros, poles and gain.
function [b, a] = sos2tf(sos : mat)
    check_sos("sos2tf", sos)
    b = float64([1])
    a = float64([1])
    for k = 0..size(sos,0)-1
        b = conv(b, float64(sos[k,0..2]))
        a = conv(a, float64(sos[k,3..5]))
    end
end

function [b, a] = zpk2tf(z, p, k : scalar)
    b = k*zpk_polynomial(z)
    a = zpk_polynomial(p)
end

% Function: tf2zpk, tf2sos
% Zeros, poles and gain, or sections of second order, of the filter with coefficients b and a.
function [z, p, k] = tf2zpk(b : vec, a : vec)
    assert(numel(a) > 0 && a[0] != 0 && numel(b) > 0 && b[0] != 0, "tf2zpk: b[0] and a[0] must not be 0, got ", b, " and ", a)
    z = roots(float64(b))
    p = roots(float64(a))
    k = float64(b)[0]/float64(a)[0]
end

function sos = tf2sos(b : vec, a : vec)
    [z, p, k] = tf2zpk(b, a)
    less = numel(z) - numel(p)
    if less > 0
        p = zpk_join(p, zpk_repeat(less, 0, 0))
    elseif less < 0
        z = zpk_join(z, zpk_repeat(-less, 0, 0))
    endif
    sos = zpk2sos(z, p, k)
end

function [] = check_sos(what, sos)
    assert(size(sos,1) == 6 && size(sos,0) > 0 && all(sos[:,3] == 1), _
           what, ": sos must have rows [b0, b1, b2, 1, a1, a2], got size ", size(sos))
end

% Makes the digital filter of the analog low pass prototype (z, p, k).
function [b, a, sos, z, p, k] = filter_from_prototype(what, z, p, k, Wn, btype, fs)
    btype = default_btype(what, btype, Wn)
    assert(fs > 0 && fs < inf, what, ": fs must be greater than 0 and finite, got ", fs)
    kinds = {"low", "lowpass", "high", "highpass", "bandpass", "pass", "bandstop", "stop"}
    assert(ismember(btype, kinds), what, ": btype must be low, high, bandpass or bandstop, got ", btype)
    band = startswith(btype, "band") || btype == "pass" || btype == "stop"
    w = written_numbers(Wn)*2/fs
    assert(numel(w) == (band ? 2 : 1), what, ": Wn must be ", band ? "[low, high]" : "one frequency", ", got ", Wn)
    assert(all(w > 0) && all(w < 1) && (!band || w[0] < w[1]), what, ": Wn must ascend between 0 and fs/2, ", fs/2, ", got ", Wn)
    w = 4*tan(pi*w/2)
    degree = numel(p) - numel(z)
    match btype with
    | "low" | "lowpass" ->
        k = k*w[0]^degree
        z = w[0]*z
        p = w[0]*p
    | "high" | "highpass" ->
        k = k*real(zpk_product(0-z)/zpk_product(0-p))
        z = zpk_join(w[0]./z, zpk_repeat(degree, 0, 0))
        p = w[0]./p
    | "bandpass" | "pass" ->
        width = w[1] - w[0]
        k = k*width^degree
        z = zpk_join(zpk_split(z*(width/2), w[0]*w[1]), zpk_repeat(degree, 0, 0))
        p = zpk_split(p*(width/2), w[0]*w[1])
    | _ ->
        width = w[1] - w[0]
        middle = sqrt(w[0]*w[1])
        k = k*real(zpk_product(0-z)/zpk_product(0-p))
        z = zpk_join(zpk_split((width/2)./z, w[0]*w[1]), zpk_join(zpk_repeat(degree, 0, middle), zpk_repeat(degree, 0, -middle)))
        p = zpk_split((width/2)./p, w[0]*w[1])
    end
    k = k*real(zpk_product(4-z)/zpk_product(4-p))
    z = zpk_join((4+z)./(4-z), zpk_repeat(numel(p) - numel(z), -1, 0))
    p = (4+p)./(4-p)
    [b, a] = zpk2tf(z, p, k)
    sos = zpk2sos(z, p, k)
end

% A low pass, or a band pass where two frequencies are given.
function btype = default_btype(what, btype, Wn)
    btype = isnull(btype) ? (numel(Wn) == 2 ? "bandpass" : "low") : btype
    assert(isstring(btype), what, ": btype must be a name as low, high or bandpass, got ", check_got(btype))
end

function z = zpk_split(z, square)
    if numel(z) > 0
        root = sqrt(z.^2 - square)
        z = horzcat(z + root, z - root)
    endif
end

% Function: butter
% A digital Butterworth filter, by the bilinear transform of its zeros and poles.
%
% Parameters:
% n - the order; band filters have twice as many poles
% Wn - the frequency at -3 dB, or [low, high] of a band
% btype - "low", "high", "bandpass" or "bandstop"; null is "low", or "bandpass" for two frequencies
% fs - the sampling rate, twice the frequency 1
%
% Returns:
% b, a - coefficients, for filter, filtfilt and freqz; a[0] is 1
% sos - sections of second order, for sosfilt, which is accurate for high orders
% z, p, k - zeros, poles and gain
%
% See also: <cheby1>, <ellip>, <fir1>, <filtfilt>
function [b, a, sos, z, p, k] = butter(n : int, Wn, btype = null, fs : scalar = 2)
    check_whole("butter: n", n, 1)
    t = pi*float64(-n+1..2..n-1)/(2*n)
    [b, a, sos, z, p, k] = filter_from_prototype("butter", zpk_repeat(0, 0, 0), complex(0-cos(t), 0-sin(t)), 1, Wn, btype, fs)
end

% Function: cheby1
% A digital Chebyshev filter of the first kind: ripples of rp decibels in the pass band. Wn is where the gain falls below
% -rp; other arguments and results as for butter.
function [b, a, sos, z, p, k] = cheby1(n : int, rp : scalar, Wn, btype = null, fs : scalar = 2)
    check_whole("cheby1: n", n, 1)
    assert(rp > 0 && rp < inf, "cheby1: rp must be greater than 0 and finite, got ", rp)
    e = sqrt(10^(0.1*rp) - 1)
    mu = asinh(1/e)/n
    t = pi*float64(-n+1..2..n-1)/(2*n)
    p = complex(0-sinh(mu)*cos(t), 0-cosh(mu)*sin(t))
    k = real(zpk_product(0-p))/(mod(n, 2) == 0 ? sqrt(1 + e^2) : 1)
    [b, a, sos, z, p, k] = filter_from_prototype("cheby1", zpk_repeat(0, 0, 0), p, k, Wn, btype, fs)
end

% Function: cheby2
% A digital Chebyshev filter of the second kind: the stop band is rs decibels below 0 and begins at Wn; other arguments and
% results as for butter.
function [b, a, sos, z, p, k] = cheby2(n : int, rs : scalar, Wn, btype = null, fs : scalar = 2)
    check_whole("cheby2: n", n, 1)
    assert(rs > 0 && rs < inf, "cheby2: rs must be greater than 0 and finite, got ", rs)
    mu = asinh(sqrt(10^(0.1*rs) - 1))/n
    m = float64(-n+1..2..n-1)
    t = pi*m/(2*n)
    p = 1./complex(0-sinh(mu)*cos(t), 0-cosh(mu)*sin(t))
    some = t[m != 0]
    z = numel(some) == 0 ? zpk_repeat(0, 0, 0) : complex(zeros_like(some), 1./sin(some))
    k = real(zpk_product(0-p)/zpk_product(0-z))
    [b, a, sos, z, p, k] = filter_from_prototype("cheby2", z, p, k, Wn, btype, fs)
end

% The complete elliptic integral of the first kind of the parameter 1-m1, by arithmetic and geometric means.
function K = elliptic_complete(m1)
    a = 1
    g = sqrt(m1)
    while abs(a - g) > 1e-16*a && a != g
        next = (a + g)/2
        g = sqrt(a*g)
        last = a
        a = next
        if a == last
            g = a
        endif
    end
    K = pi/(2*a)
end

% The incomplete one of the angle phi and the parameter m, by Carlson's duplication.
function F = elliptic_incomplete(phi, m)
    x = cos(phi)^2
    y = 1 - m*sin(phi)^2
    z = 1
    spread = 1
    while spread > 1e-4
        root = sqrt(x*y) + sqrt(y*z) + sqrt(z*x)
        x = (x + root)/4
        y = (y + root)/4
        z = (z + root)/4
        mean_ = (x + y + z)/3
        spread = max(abs(x - mean_), max(abs(y - mean_), abs(z - mean_)))/mean_
    end
    u = 1 - x/mean_
    v = 1 - y/mean_
    w = -(u + v)
    e2 = u*v - w*w
    e3 = u*v*w
    F = sin(phi)*(1 - e2/10 + e3/14 + e2^2/24 - 3*e2*e3/44)/sqrt(mean_)
end

% Jacobi's functions sn, cn, dn of u and the parameter m, by descending means (Abramowitz, Stegun 16.4).
function [sn, cn, dn] = elliptic_functions(u, m)
    a = zeros_like(float64([0]), 20)
    c = zeros_like(float64([0]), 20)
    a[0] = 1
    c[0] = sqrt(m)
    b = sqrt(1 - m)
    n = 0
    while abs(c[n]) > 1e-16 && n < 19
        a[n+1] = (a[n] + b)/2
        c[n+1] = (a[n] - b)/2
        b = sqrt(a[n]*b)
        n += 1
    end
    phi = 2^n*a[n]*u
    before = phi
    for k = n..-1..1
        before = phi
        phi = (phi + asin(c[k]*sin(phi)/a[k]))/2
    end
    sn = sin(phi)
    cn = cos(phi)
    dn = sqrt(1 - m*sn.^2)
end

% Function: ellip
% A digital elliptic (Cauer) filter: ripples of rp decibels in the pass band, which ends at Wn, and a stop band rs decibels
% below 0. Other arguments and results as for butter. Source: Orfanidis: Lecture notes on elliptic filter design (2006).
function [b, a, sos, z, p, k] = ellip(n : int, rp : scalar, rs : scalar, Wn, btype = null, fs : scalar = 2)
    check_whole("ellip: n", n, 1)
    assert(rp > 0 && rs > rp && rs < inf, "ellip: rp must be greater than 0, and rs greater than rp, got ", rp, " and ", rs)
    e = sqrt(10^(0.1*rp) - 1)
    z = zpk_repeat(0, 0, 0)
    if n == 1
        p = complex(float64([-1/e]), float64([0]))
        k = 1/e
    else
        m1 = e^2/(10^(0.1*rs) - 1)
        K1 = elliptic_complete(1 - m1)
        q = exp(0-pi*elliptic_complete(m1)/K1/n)
        i = float64(0..7)
        m = 16*q*(sum(q.^(i.*(i+1)))/(1 + 2*sum(q.^((i+1).^2))))^4
        K = elliptic_complete(1 - m)
        j = float64(1-mod(n,2)..2..n-1)
        [s, c, d] = elliptic_functions(j*(K/n), m)
        some = s[j > 0]
        up = 1./(sqrt(m)*some)
        z = complex(zeros_like(up), up)
        z = horzcat(z, conj(z))
        v = K*elliptic_incomplete(atan(1/e), 1 - m1)/(n*K1)
        [sv, cv, dv] = elliptic_functions(v, 1 - m)
        p = complex(0-c.*d*(sv*cv), 0-s*dv)./(1 - (d*sv).^2)
        p = zpk_join(p, conj(p[j > 0]))
        k = real(zpk_product(0-p)/zpk_product(0-z))/(mod(n, 2) == 0 ? sqrt(1 + e^2) : 1)
    endif
    [b, a, sos, z, p, k] = filter_from_prototype("ellip", z, p, k, Wn, btype, fs)
end

% Function: iirnotch, iirpeak
% A filter of second order that removes (iirnotch) or keeps (iirpeak) the frequency w0, with the quality Q = w0/bandwidth.
function [b, a] = iirnotch(w0 : scalar, Q : scalar, fs : scalar = 2)
    [b, a] = iir_second("iirnotch", w0, Q, fs)
end

function [b, a] = iirpeak(w0 : scalar, Q : scalar, fs : scalar = 2)
    [b, a] = iir_second("iirpeak", w0, Q, fs)
end

function [b, a] = iir_second(what, w0, Q, fs)
    w = 2*pi*w0/fs
    assert(w > 0 && w < pi, what, ": w0 must be between 0 and fs/2, ", fs/2, ", got ", w0)
    assert(Q > 0, what, ": Q must be greater than 0, got ", Q)
    g = 1/(1 + tan(w/(2*Q)))
    b = what == "iirnotch" ? g*float64([1, -2*cos(w), 1]) : (1-g)*float64([1, 0, -1])
    a = float64([1, -2*g*cos(w), 2*g-1])
end

% Function: fir1
% A filter of n+1 coefficients by the method of windows. firwin of SciPy has n+1 as its argument.
%
% Parameters:
% n - the order; even where the gain at half the sampling rate is not 0 (high, stop)
% Wn - the frequency at -6 dB, or [low, high] of a band
% btype - "low", "high", "bandpass" or "stop"; null is "low", or "bandpass" for two frequencies
% window - n+1 weights; null is hamming(n+1)
%
% Returns:
% b - in float64; its gain in the middle of the pass band is 1
function b = fir1(n : int, Wn, btype = null, window = null, fs : scalar = 2)
    check_whole("fir1: n", n, 1)
    btype = default_btype("fir1", btype, Wn)
    w = written_numbers(Wn)*2/fs
    band = btype == "bandpass" || btype == "stop" || btype == "bandstop"
    assert(numel(w) == (band ? 2 : 1) && all(w > 0) && all(w < 1) && (!band || w[0] < w[1]), _
           "fir1: Wn must be ", band ? "[low, high]" : "one frequency", " between 0 and fs/2, ", fs/2, ", got ", Wn)
    weights = isnull(window) ? hamming(n+1) : float64(window)
    assert(numel(weights) == n+1, "fir1: window must have n+1 weights, ", n+1, ", got ", numel(weights))
    m = float64(0..n) - n/2
    high = btype == "high" || btype == "stop" || btype == "bandstop"
    assert(!high || mod(n, 2) == 0, "fir1: n must be even for ", btype, ", got ", n)
    match btype with
    | "low" -> b = fir_ideal(m, w[0])
    | "high" -> b = fir_ideal(m, 1) - fir_ideal(m, w[0])
    | "bandpass" -> b = fir_ideal(m, w[1]) - fir_ideal(m, w[0])
    | "stop" | "bandstop" -> b = fir_ideal(m, 1) - fir_ideal(m, w[1]) + fir_ideal(m, w[0])
    | _ -> error("fir1: btype must be low, high, bandpass or stop, got %s", btype)
    end
    b = b.*weights
    middle = btype == "high" ? 1 : btype == "bandpass" ? (w[0] + w[1])/2 : 0
    b = b/sum(b.*cos(pi*m*middle))
end

% The ideal low pass: w*sinc(w*m).
function h = fir_ideal(m, w)
    t = pi*w*m
    h = t == 0 ? w : w*sin(t)./(t == 0 ? 1 : t)
end

% Function: freqz, sosfreqz
% The frequency response of a filter.
%
% Parameters:
% b, a - coefficients; of sosfreqz sections of second order
% n - how many frequencies, from 0 to below half the sampling rate; or a vec of frequencies
% fs - the sampling rate; frequencies are in its unit (radians per sample by default)
%
% Returns:
% h - the complex response
% w - the frequencies
function [h, w] = freqz(b : vec, a = 1, n = 512, fs : scalar = 2*pi)
    [w, z] = response_points(n, fs)
    den = isscalar(a) ? float64([a]) : float64(a)
    h = polyval(fliplr(float64(b)), z)./polyval(fliplr(den), z)
end

% The frequencies w, and z^-1 on the unit circle.
function [w, z] = response_points(n, fs)
    w = isscalar(n) ? fs/2*float64(0..n-1)/n : float64(copy(n))
    t = 2*pi*w/fs
    z = complex(cos(t), 0-sin(t))
end

function [h, w] = sosfreqz(sos : mat, n = 512, fs : scalar = 2*pi)
    check_sos("sosfreqz", sos)
    [h, w] = freqz(float64(sos[0,0..2]), float64(sos[0,3..5]), n, fs)
    for k = 1..size(sos,0)-1
        h = h.*freqz(float64(sos[k,0..2]), float64(sos[k,3..5]), n, fs)
    end
end

% Function: grpdelay
% The group delay of a filter in samples at n frequencies, as for freqz.
function [delay, w] = grpdelay(b : vec, a = 1, n = 512, fs : scalar = 2*pi)
    den = isscalar(a) ? float64([a]) : float64(a)
    [w, z] = response_points(n, fs)
    c = conv(float64(b), fliplr(den))
    delay = real(polyval(fliplr(c.*float64(0..numel(c)-1)), z)./polyval(fliplr(c), z)) - numel(den) + 1
end

% Function: sosfilt
% A signal after a filter of sections of second order, one after the other.
%
% Parameters:
% sos - rows [b0, b1, b2, 1, a1, a2]
% x - the signal
% zi - the states at its beginning, a row of 2 per section; null is zeros
%
% Returns:
% y - the filtered signal
% zf - the states at its end
function [y, zf] = sosfilt(sos : mat, x : vec, zi = null)
    check_sos("sosfilt", sos)
    sections = size(sos,0)
    zf = zeros_like(float64([0]), sections, 2)
    if !isnull(zi)
        assert(isequal(size(zi), size(zf)), "sosfilt: zi must have size ", size(zf), ", got ", size(zi))
        zf[:,:] = zi
    endif
    y = uninit_like(x)
    sos_run(float64(sos), x, y, zf)
end

function [] = sos_run(sos, x : vec, y, zf)
    for i = 0..numel(x)-1
        v = x[i]
        for s = 0..size(sos,0)-1
            out = sos[s,0]*v + zf[s,0]
            zf[s,0] = sos[s,1]*v - sos[s,4]*out + zf[s,1]
            zf[s,1] = sos[s,2]*v - sos[s,5]*out
            v = out
        end
        y[i] = v
    end
end

% Function: lfilter_zi, sosfilt_zi
% The state of a filter whose input has always been 1: times x[0] it avoids the transient at the beginning.
function zi = lfilter_zi(b : vec, a : vec)
    assert(numel(a) > 0 && a[0] != 0, "lfilter_zi: a[0] must not be 0, got ", a)
    n = max(numel(a), numel(b))
    num = zeros_like(float64([0]), n)
    num[0..numel(b)-1] = float64(b)/a[0]
    den = zeros_like(num)
    den[0..numel(a)-1] = float64(a)/a[0]
    assert(sum(den) != 0, "lfilter_zi: the filter has a pole at 1, so that its state has no limit")
    gain = sum(num)/sum(den)
    zi = zeros_like(num, n-1)
    state = 0
    for k = n-1..-1..1
        state = state + num[k] - den[k]*gain
        zi[k-1] = state
    end
end

function zi = sosfilt_zi(sos : mat)
    check_sos("sosfilt_zi", sos)
    zi = zeros_like(float64([0]), size(sos,0), 2)
    scale = 1
    for k = 0..size(sos,0)-1
        b = float64(sos[k,0..2])
        a = float64(sos[k,3..5])
        zi[k,:] = scale*lfilter_zi(b, a)
        scale = scale*sum(b)/sum(a)
    end
end

% x with n more samples at either end: "odd" (turned about the end), "even" (mirrored) or "constant".
function y = filter_extension(what, x, n, padtype)
    m = numel(x)
    assert(m > n, what, ": x must have more than padlen samples, ", n, ", got ", m)
    y = x
    if n > 0
        head = x[n..-1..1]
        tail = x[m-2..-1..m-1-n]
        match padtype with
        | "odd" -> y = horzcat(2*x[0] - head, x, 2*x[m-1] - tail)
        | "even" -> y = horzcat(head, x, tail)
        | "constant" -> y = horzcat(0*head + x[0], x, 0*tail + x[m-1])
        | _ -> error("%s: padtype must be odd, even or constant, got %s", what, padtype)
        end
    endif
end

% Function: filtfilt, sosfiltfilt
% A signal filtered forward and backward, without phase shift, with the square of the gain. The signal is continued at both
% ends, as in SciPy.
%
% Parameters:
% b, a - coefficients; of sosfiltfilt sections of second order
% x - the signal
% padlen - how many samples are added; null is 3*max(numel(a), numel(b)), of sections about 6 times their number
% padtype - "odd", "even" or "constant"
function y = filtfilt(b : vec, a, x : vec, padlen = null, padtype : string = "odd")
    den = isscalar(a) ? float64([a]) : float64(a)
    n = isnull(padlen) ? 3*max(numel(den), numel(b)) : padlen
    check_whole("filtfilt: padlen", n, 0)
    longer = filter_extension("filtfilt", float64(x), n, padtype)
    zi = lfilter_zi(b, den)
    forward = filter(b, den, longer, zi*longer[0])
    turned = fliplr(forward)
    both = fliplr(filter(b, den, turned, zi*turned[0]))
    y = cast_like(both[n..n+numel(x)-1], x)
end

function y = sosfiltfilt(sos : mat, x : vec, padlen = null, padtype : string = "odd")
    check_sos("sosfiltfilt", sos)
    taps = 2*size(sos,0) + 1 - min(sum(sos[:,2] == 0), sum(sos[:,5] == 0))
    n = isnull(padlen) ? 3*taps : padlen
    check_whole("sosfiltfilt: padlen", n, 0)
    longer = filter_extension("sosfiltfilt", float64(x), n, padtype)
    zi = sosfilt_zi(sos)
    turned = fliplr(sosfilt(sos, longer, zi*longer[0]))
    both = fliplr(sosfilt(sos, turned, zi*turned[0]))
    y = cast_like(both[n..n+numel(x)-1], x)
end

% Computes y[m], the sum of h[m*q - k*p]*x[k].
function [] = __kernel__ upfirdn_at(y : vec'unchecked, x : vec'unchecked, h : vec'unchecked, p : int, q : int, pos : int)
    at = pos*q
    first = max(0, int((at - numel(h) + p)/p))
    last = min(numel(x)-1, int(at/p))
    first = at - numel(h) + 1 <= 0 ? 0 : first
    total = 0.0
    for k = first..last
        total += h[at - k*p]*x[k]
    end
    y[pos] = total
end

% Function: upfirdn
% Inserts p-1 zeros behind every sample, filters by h, and keeps every q-th sample; only these are computed.
function y = upfirdn(x : vec, h : vec, p : int = 1, q : int = 1)
    check_whole("upfirdn: p", p, 1)
    check_whole("upfirdn: q", q, 1)
    check_filled("upfirdn: h", h)
    check_filled("upfirdn: x", x)
    n = ceil(((numel(x)-1)*p + numel(h))/q)
    y = uninit_like(x, n)
    parallel_do(n, y, x, cast_like(h, x), p, q, upfirdn_at)
end

% Function: resample
% A signal at p/q times its sampling rate, by a filter without phase that keeps all frequencies that both rates have
% (polyphase, as scipy.signal.resample_poly). Beyond its ends the signal counts as 0.
%
% Parameters:
% x - the signal
% p, q - integers
% beta - of the Kaiser window of the filter, which has 10*max(p,q) coefficients on either side; or the filter itself, a vec
%
% Returns:
% y - ceil(numel(x)*p/q) samples
function y = resample(x : vec, p : int, q : int, beta = 5)
    check_whole("resample: p", p, 1)
    check_whole("resample: q", q, 1)
    check_filled("resample: x", x)
    a = p
    b = q
    while b > 0
        rest = mod(a, b)
        a = b
        b = rest
    end
    up = p/a
    down = q/a
    if up == 1 && down == 1
        y = copy(x)
        return
    endif
    most = max(up, down)
    if isscalar(beta)
        half = 10*most
        h = up*fir1(2*half, 1/most, "low", kaiser(2*half+1, beta))
    else
        assert(mod(numel(beta), 2) == 1, "resample: a filter must have an odd number of coefficients, got ", numel(beta))
        half = (numel(beta)-1)/2
        h = up*float64(beta)
    endif
    n = ceil(numel(x)*up/down)
    before = down - mod(half, down)
    skip = floor((half + before)/down)
    after = max((n + skip - 1)*down + 1 - ((numel(x)-1)*up + numel(h) + before), 0)
    h = horzcat(zeros_like(h, before), h, zeros_like(h, after))
    y = upfirdn(x, h, int(up), int(down))[skip..skip+n-1]
end

% Function: decimate
% Every q-th sample of a signal, after a low pass without phase that removes the frequencies which these cannot represent.
%
% Parameters:
% x - the signal
% q - an integer
% n - the order; null is 8 for "iir", 20*q for "fir"
% ftype - "iir" (cheby1 of 0.05 dB, filtfilt) or "fir" (fir1, resample)
function y = decimate(x : vec, q : int, n = null, ftype : string = "iir")
    check_whole("decimate: q", q, 1)
    assert(ftype == "iir" || ftype == "fir", "decimate: ftype must be iir or fir, got ", ftype)
    if q == 1
        y = copy(x)
    elseif ftype == "iir"
        [_, _, sos] = cheby1(isnull(n) ? 8 : n, 0.05, 0.8/q)
        y = sosfiltfilt(sos, x)[0..q..numel(x)-1]
    else
        y = resample(x, 1, q, fir1(isnull(n) ? 20*q : n, 1/q))
    endif
end

% Function: firls
% A filter of n+1 coefficients with linear phase and the least squared error, integrated over bands.
% Source: Selesnick: Linear-phase FIR filter design by least squares (2005).
%
% Parameters:
% n - the order, for scipy.signal.firls the number of coefficients less 1; even if the gain at half the sampling rate is
%     not 0
% f - edges of the bands in pairs, ascending, from 0 to fs/2
% a - the gain at each edge; between the two edges of a band it is a line
% w - a weight for each band; null is 1 for all
% fs - the sampling rate
%
% Returns:
% b - in float64, symmetric
function b = firls(n : int, f, a, w = null, fs : scalar = 2)
    [e, d, w] = band_arguments("firls", n, f, a, w, fs)
    count = numel(w)
    odd = mod(n, 2)
    k = float64(0..floor((n-odd)/2)) + odd/2
    total = numel(k)
    slope = (d[1,:] - d[0,:])./(e[1,:] - e[0,:])
    level = d[0,:] - slope.*e[0,:]
    sides = float64([-1,1])
    wave = (t, x) -> x.*sinc_of(t.*x)
    difference = k - transpose(k)
    sum_ = k + transpose(k)
    Q = 0*difference
    right = 0*k
    for j = 0..count-1
        for side = 0..1
            x = e[side,j]
            Q = Q + sides[side]*w[j]*(wave(difference, x) + wave(sum_, x))
            ramp = k == 0 ? -x^2/2 : cos(pi*k*x)./(k == 0 ? 1 : pi*k).^2
            right = right + sides[side]*w[j]*(x*(slope[j]*x + level[j])*sinc_of(k*x) + slope[j]*ramp)
        end
    end
    c = reshape(solve(Q, transpose(right)), [1,total])
    b = odd == 1 ? horzcat(fliplr(c), c) : horzcat(fliplr(c[1..total-1]), 2*c[0], c[1..total-1])
end

% Edges from 0 to 1 and gains as matrices with a column for each band, and weights.
function [e, d, w] = band_arguments(what, n, f, a, w, fs)
    check_whole(strcat(what, ": n"), n, 1)
    check_finite(strcat(what, ": f"), f)
    check_finite(strcat(what, ": a"), a)
    count = numel(f)/2
    assert(numel(f) >= 2 && mod(numel(f), 2) == 0, what, ": f must have pairs of edges, got ", numel(f), " elements")
    assert(numel(a) == numel(f), what, ": f and a must have one size, got ", size(f), " and ", size(a))
    e = transpose(reshape(written_numbers(f)*2/fs, [count,2]))
    d = transpose(reshape(written_numbers(a), [count,2]))
    assert(all(e[1,:] > e[0,:]) && all(e[0,1..count-1] >= e[1,0..count-2]) && min(e) >= 0 && max(e) <= 1,
           what, ": f must ascend between 0 and fs/2, ", fs/2, ", got ", f)
    w = isnull(w) ? float64(ones(count)) : written_numbers(w)
    assert(numel(w) == count && all(w > 0), what, ": w must have a weight greater than 0 for each of ", count, _
           " bands, got ", w)
    assert(mod(n, 2) == 0 || e[1,count-1] < 1 || d[1,count-1] == 0, what, ": n must be even for a gain at fs/2, got ",
           n)
end

function y = sinc_of(x)
    y = x == 0 ? 1 : sin(pi*x)./(x == 0 ? 1 : pi*x)
end

% Function: kaiserord
% The order of a filter by fir1 with a window of kaiser that keeps deviations, as in MATLAB. The estimate is that of
% scipy.signal.kaiserord(ripple, width), which has other arguments and returns n+1.
% Source: Kaiser: Nonrecursive digital filter design using the I0-sinh window function (1974).
%
% Parameters:
% f - edges of the bands between 0 and fs/2, [low, high] of each transition, ascending
% a - the gain of each band: of 2 or 3 bands, 1 and 0 in turns
% dev - the largest deviation of each band
% fs - the sampling rate
%
% Returns:
% n, Wn, beta, ftype - for fir1(n, Wn, ftype, kaiser(n+1, beta), fs)
function [n, Wn, beta, ftype] = kaiserord(f, a, dev = null, fs : scalar = 2)
    assert(!isnull(dev), "kaiserord: write kaiserord(f, a, dev, fs) with the edges, gains and deviations of bands")
    for v = {f, a, dev}
        check_finite("kaiserord: f, a and dev", v)
    end
    count = numel(a)
    assert((count == 2 || count == 3) && numel(f) == 2*count-2, "kaiserord: f must have ", 2*count-2, " edges for ",
           count,
           " bands, of which there are 2 or 3, got ", numel(f))
    e = written_numbers(f)
    dev = written_numbers(dev)
    assert(e[0] > 0 && all(e[1..numel(f)-1] > e[0..numel(f)-2]) && max(e) < fs/2,
           "kaiserord: f must ascend between 0 and fs/2, ", fs/2, ", got ", f)
    gains = float64(reshape(a, [1,count]))
    assert(all(gains[1..count-1] + gains[0..count-2] == 1) && all(gains == 0 || gains == 1),
           "kaiserord: a must be 1 and 0 in turns, got ", a)
    assert((numel(dev) == 1 || numel(dev) == count) && all(dev > 0), "kaiserord: dev must be greater than 0, got ", dev)
    ripple = -20*log10(min(dev))
    width = min(e[1..2..numel(f)-1] - e[0..2..numel(f)-2])*2/fs
    beta = ripple > 50 ? 0.1102*(ripple - 8.7) : ripple > 21 ? 0.5842*(ripple - 21)^0.4 + 0.07886*(ripple - 21) : 0
    n = max(ceil((ripple - 7.95)/(2.285*pi*width)), 1)
    Wn = (e[1..2..numel(f)-1] + e[0..2..numel(f)-2])/2
    Wn = count == 2 ? sum(Wn) : Wn
    names = gains[0] == 1 ? {"low","stop"} : {"high","bandpass"}
    ftype = names[count-2]
    if gains[count-1] == 1
        n = n + mod(n, 2)
    endif
end

% Function: buttord
% The order of a filter by butter that loses at most rp decibels up to the edge of the pass band and at least rs from
% the edge of the stop band on.
%
% Parameters:
% wp, ws - edges of the pass band and the stop band between 0 and fs/2; one number each (low, or high where ws < wp) or
%     [low, high] of a band that passes
% rp, rs - decibels, rp < rs
% fs - the sampling rate
% match_edge - which edge has exactly its decibels: "stop", as in MATLAB, or "pass", as in scipy.signal.buttord
%
% Returns:
% n, Wn - the arguments of butter(n, Wn, btype, fs)
function [n, Wn] = buttord(wp, ws, rp : scalar, rs : scalar, fs : scalar = 2, match_edge : string = "stop")
    for v = {wp, ws}
        check_finite("buttord: wp and ws", v)
        assert(numel(v) == numel(wp) && numel(v) <= 2 && all(v > 0) && all(v < fs/2),
               "buttord: wp and ws must have one or two edges each between 0 and fs/2, ", fs/2, ", got ", v)
    end
    assert(rp > 0 && rs > rp, "buttord: rp must be greater than 0 and less than rs, got ", rp, " and ", rs)
    assert(match_edge == "stop" || match_edge == "pass", "buttord: match_edge must be stop or pass, got ", match_edge)
    p = tan(pi*written_numbers(wp)/fs)
    s = tan(pi*written_numbers(ws)/fs)
    band = numel(p) == 2
    if band
        assert(s[0] < p[0] && p[0] < p[1] && p[1] < s[1],
               "buttord: the pass band must be within [low, high] of the stop band, got ",
               wp, " and ", ws, "; other bands are designed by two filters")
        ratio = min(abs((s.^2 - p[0]*p[1])./(s*(p[0] - p[1]))))
    else
        assert(p[0] != s[0], "buttord: wp and ws must differ, got ", wp)
        ratio = max(s[0]/p[0], p[0]/s[0])
    endif
    [pass, stop] = {10^(0.1*rp) - 1, 10^(0.1*rs) - 1}
    n = ceil(log(stop/pass)/(2*log(ratio)))
    w = match_edge == "pass" ? pass^(-1/(2*n)) : ratio*stop^(-1/(2*n))
    if band
        half = w*(p[1] - p[0])/2
        W = sqrt(half^2 + p[0]*p[1]) + half*float64([-1,1])
    else
        W = p[0] < s[0] ? p*w : p/w
    endif
    Wn = atan(W)*fs/pi
    Wn = band ? Wn : sum(Wn)
end

% Function: firpm
% A filter of n+1 coefficients with linear phase whose largest weighted error in the bands is least, by the exchange of
% Remez. Source: McClellan, Parks, Rabiner: A computer program for designing optimum FIR linear phase digital filters
% (1973).
%
% Parameters:
% n, f, a, w, fs - as for <firls>; there is a gap between bands. scipy.signal.remez has n+1 and one gain per band
%
% Returns:
% b - in float64, symmetric
% err - the largest weighted error
function [b, err] = firpm(n : int, f, a, w = null, fs : scalar = 2)
    [e, d, w] = band_arguments("firpm", n, f, a, w, fs)
    count = numel(w)
    assert(all(e[0,1..count-1] > e[1,0..count-2]), "firpm: f must have gaps between bands, got ", f)
    odd = mod(n, 2)
    r = (n - odd)/2 + 1
    [t, gain, weight, side] = {float64(zeros(0)), float64(zeros(0)), float64(zeros(0)), float64(zeros(0))}
    for j = 0..count-1
        high = odd == 1 ? min(e[1,j], 1 - 1/(16*r)) : e[1,j]
        m = max(ceil((high - e[0,j])*16*r), 2)
        x = e[0,j] + (high - e[0,j])*float64(0..m)/m
        t = horzcat(t, x)
        gain = horzcat(gain, d[0,j] + (d[1,j] - d[0,j])*(x - e[0,j])/(e[1,j] - e[0,j]))
        weight = horzcat(weight, w[j] + 0*x)
        side = horzcat(side, float64(-1), float64(zeros(m-1)), float64(1))
    end
    if odd == 1   % the polynomial is the response over cos(pi*t/2)
        gain = gain./cos(pi*t/2)
        weight = weight.*cos(pi*t/2)
    endif
    assert(numel(t) > r + 1, "firpm: the bands are too narrow for n, ", n)
    sign_ = 1 - 2*mod(float64(0..r), 2)
    at = round(float64(0..r)*(numel(t)-1)/r)
    steps = 0
    going = true
    while going
        x = cos(pi*t[at])
        differences = 2*(transpose(x) - x) + eye(r+1)
        q = reshape(1./prod(differences, 1), [1,r+1])
        level = sum(q.*gain[at])/sum(q.*sign_./weight[at])
        y = gain[at] - sign_*level./weight[at]
        error_ = weight.*(gain - remez_value(cos(pi*t), x, y, q))
        next = remez_extremes(error_, side, r + 1)
        steps += 1
        going = numel(next) == r + 1 && !isequal(next, at) && steps < 50 && max(abs(error_)) > abs(level)*(1 + 1e-9)
        at = going ? next : at
    end
    err = max(max(abs(error_)), abs(level))
    % The coefficients are those of the response at n+1 frequencies.
    k = float64(0..floor(n/2))
    response = remez_value(cos(2*pi*k/(n+1)), x, y, q)
    response = odd == 1 ? response.*cos(pi*k/(n+1)) : response
    response[0] = response[0]/2
    b = float64(zeros(n+1))
    for i = 0..n
        b[i] = 2*sum(response.*cos(2*pi*k*(i - n/2)/(n+1)))/(n+1)
    end
end

% The polynomial through [x, y] but for the last point, by barycentric weights.
function v = remez_value(z, x, y, q)
    n = numel(x) - 2
    q = q[0..n].*(x[0..n] - x[n+1])
    d = transpose(z) - x[0..n]
    hit = d == 0
    d = hit ? 1 : d
    v = sum(q.*y[0..n]./d, 1)./sum(q./d, 1)
    v = any(hit, 1) ? sum(hit.*y[0..n], 1) : v
    v = transpose(v)
end

% The positions of `count` extremes of the error with signs in turns, the largest ones; side is -1 and 1 at the ends of
% bands.
function at = remez_extremes(e, side, count)
    n = numel(e)
    list = {}
    for i = 0..n-1
        s = e[i] < 0 ? -1 : 1
        if (side[i] < 0 || s*e[i-1] <= s*e[i]) && (side[i] > 0 || s*e[i+1] <= s*e[i])
            m = numel(list)
            if m > 0 && (e[list[m-1]] < 0) == (e[i] < 0)
                if abs(e[i]) > abs(e[list[m-1]])
                    list[m-1] = i
                endif
            else
                append(list, i)
            endif
        endif
    end
    at = numel(list) > 0 ? float64(horzcat(...list)) : float64(zeros(0))
    while numel(at) > count
        m = numel(at)
        k = find_index_min(abs(e[at]))
        if m == count + 1 || k == 0 || k == m-1
            k = m == count + 1 ? (abs(e[at[0]]) < abs(e[at[m-1]]) ? 0 : m-1) : k
            at = horzcat(at[0..k-1], at[k+1..m-1])
        else
            k = abs(e[at[k-1]]) < abs(e[at[k+1]]) ? k-1 : k
            at = horzcat(at[0..k-1], at[k+2..m-1])
        endif
    end
end
