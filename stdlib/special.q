% Module: special.q
% Special functions, elementwise in float64, with the arguments of MATLAB.
import "check.q"

% Function: legendre
% The associated functions of Legendre of degree n and orders 0 … n, a row for each order, as in MATLAB. The first row
% has the polynomial P_n(x), scipy.special.eval_legendre(n, x).
%
% Parameters:
% n - the degree, 0 to 150
% x - numbers from -1 to 1
% normalization - "unnorm", with the factor (-1)^order; "sch" (of Schmidt) or "norm" (integral of the square 1)
function P = legendre(n : int, x = null, normalization : string = "unnorm")
    assert(!isnull(x), "legendre: write legendre(n, x); its first row is the polynomial of degree n at x")
    check_whole("legendre: n", n, 0)
    assert(n <= 150, "legendre: n must be at most 150, got ", n)
    check_finite("legendre: x", x)
    check_each("legendre: x must be from -1 to 1", x, abs(x) <= 1)
    assert(normalization == "unnorm" || normalization == "sch" || normalization == "norm",
           "legendre: normalization must be unnorm, sch or norm, got ", normalization)
    v = float64(reshape(x, [1,numel(x)]))
    P = float64(zeros(n+1, numel(v)))
    for m = 0..n
        % The function of order m and degree m, then of higher degrees; factors keep it in range.
        scale = 1
        if normalization != "unnorm"
            scale = normalization == "norm" ? sqrt(n + 0.5) : m > 0 ? sqrt(2) : 1
            scale = scale*exp(0.5*(lgamma(n-m+1) - lgamma(n+m+1)))
        endif
        p = exp(lgamma(2*m+1) - m*log(2) - lgamma(m+1))*sqrt(max(1 - v.^2, 0)).^m
        p = (normalization == "unnorm" && mod(m, 2) == 1 ? -1 : 1)*p
        before = 0*p
        for k = m+1..n
            next = ((2*k-1)*v.*p - (k+m-1)*before)/(k-m)
            [before, p] = {p, next}
        end
        P[m,:] = scale*p
    end
end

% Function: expint
% The exponential integral E1(x), the integral of exp(-t)/t from x on, as in MATLAB; scipy.special.exp1.
%
% Parameters:
% x - numbers of at least 0
function y = expint(x)
    assert(check_real(x) && all(x >= 0 || isnan(x)), "expint: x must be real and at least 0, got ", check_got(x))
    v = float64(x)
    small = v <= 1
    a = small ? v : 1
    series = 0*a
    term = 1 + 0*a
    for k = 1..20
        term = -term.*a/k
        series = series - term/k
    end
    b = small ? 1 : min(v, 1e300)
    fraction = 0*b
    for k = 100..-1..1
        fraction = k./(1 + k./(b + fraction))
    end
    y = small ? series - log(a) - 0.57721566490153286 : isnan(v) ? v : exp(-b)./(b + fraction)
end

% Function: gammainc
% The regularized incomplete gamma function: the integral of t^(a-1)*exp(-t) from 0 to x, divided by gamma(a), with the
% arguments of MATLAB. scipy.special.gammainc(a, x) and gammaincc have them in the other order. It is a series up to
% x = a+1 and a continued fraction beyond. The absolute error is about 1e-13 for a up to 100 and 1e-11 for 1e4.
%
% Parameters:
% x - numbers of at least 0
% a - numbers from 0 to 1e4, one or as many as x has
% tail - "lower", or "upper" for the integral from x on
function y = gammainc(x, a = null, tail : string = "lower")
    assert(!isnull(a), "gammainc: write gammainc(x, a)")
    assert(check_real(x) && all(x >= 0 || isnan(x)), "gammainc: x must be real and at least 0, got ", check_got(x))
    assert(check_real(a) && all(a >= 0 && a <= 1e4 || isnan(a)), "gammainc: a must be from 0 to 1e4, got ",
           check_got(a))
    assert(tail == "lower" || tail == "upper", "gammainc: tail must be lower or upper, got ", tail)
    v = float64(x) + 0*float64(a)
    order = float64(a) + 0*v
    inner = v > 0 && v < inf && order > 0
    v = inner ? v : 1
    order = inner ? order : 1
    near = v < order + 1
    factor = exp(order.*log(v) - v - lgamma(order))
    t = near ? v : 0
    term = 1./order
    sum_of_terms = term
    k = 1
    while any(term > 1e-17*sum_of_terms)
        term = term.*t./(order + k)
        sum_of_terms = sum_of_terms + term
        k = k + 1
    end
    % The fraction by the algorithm of Lentz.
    b = (near ? order + 2 : v) + 1 - order
    c = 1e300 + 0*b
    d = 1./b
    fraction = d
    change = 0*b
    k = 1
    while any(abs(change - 1) > 3e-16) && k < 10000
        step = k*(order - k)
        b = b + 2
        d = 1./(step.*d + b)
        c = b + step./c
        change = c.*d
        fraction = fraction.*change
        k = k + 1
    end
    part = factor.*(near ? sum_of_terms : fraction)
    y = near == (tail == "lower") ? part : 1 - part
    ends = float64(x) + 0*float64(a)
    lower = isnan(ends) ? ends : a == 0 || ends > 0 ? 1 : 0
    y = inner ? y : tail == "lower" ? lower : 1 - lower
end

% Function: besselj
% The Bessel function of the first kind of an integer order, by its integral; scipy.special.jv. Small values have the
% absolute accuracy of about 1e-15.
%
% Parameters:
% nu - the order, an integer
% x - real numbers up to 1e4 in magnitude
function y = besselj(nu, x)
    check_finite("besselj: x", x)
    check_whole("besselj: nu", nu, -inf)
    check_each("besselj: x must be at most 1e4 in magnitude", x, abs(x) <= 1e4)
    v = float64(x)
    % The rule of trapezoids is exact for periods, up to J of the order 2*n-nu.
    n = (numel(v) > 0 ? ceil(max(abs(v))) : 0) + abs(nu) + 30
    y = 0*v
    for k = 0..n-1
        t = pi*(k + 0.5)/n
        y = y + cos(nu*t - v*sin(t))
    end
    y = y/n
end
