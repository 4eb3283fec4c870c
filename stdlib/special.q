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
