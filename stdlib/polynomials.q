% Module: polynomials.q
% Polynomials as rows of coefficients, highest power first, as in MATLAB and numpy.poly1d. Results are float64, or
% complex.
import "check.q"
import "matfun.q"

% A row of coefficients, float64 or complex.
function p = coefficients(what, p)
    assert(isnumeric(p) && numel(p) > 0, what, " must be a row of coefficients, got ", isnumeric(p) ? size(p) : type(p))
    assert(numel(p) == max(size(p)), what, " must be a row of coefficients, got size ", size(p))
    p = reshape(p, numel(p))
    p = isreal(p) ? float64(p) : complex(float64(real(p)), float64(imag(p)))
    check_each(strcat(what, " must have finite elements"), p, isfinite(real(p)) && isfinite(imag(p)))
end

% Function: deconv
% Division of polynomials, or of signals: y = conv(q, h) + r.
%
% Parameters:
% y - the polynomial that is divided
% h - the divisor; its first element is not 0
%
% Returns:
% q - the quotient; 0 if h is longer than y
% r - the rest, as long as y
function [q, r] = deconv(y, h)
    r = coefficients("deconv: y", y)
    h = coefficients("deconv: h", h)
    assert(abs(h[0]) > 0, "deconv: h must not begin with 0")
    [n, m] = {numel(r), numel(h)}
    if !isreal(h) && isreal(r)
        r = complex(r, 0*r)
    endif
    q = 0*r[0..max(n-m, 0)]
    r = copy(r)
    for k = 0..n-m
        q[k] = r[k]/h[0]
        r[k..k+m-1] = r[k..k+m-1] - q[k]*h
        r[k] = 0
    end
end

% Function: poly
% The polynomial with given roots and the leading coefficient 1, or the characteristic polynomial of a square matrix;
% real if complex roots come in conjugate pairs.
function p = poly(x)
    assert(isnumeric(x), "poly: x must be roots or a square matrix, got ", type(x))
    if ndims(x) <= 2 && size(x,0) == size(x,1) && numel(x) > 1
        real_ = isreal(x)
        x = eig(matrix_wide(x))
    else
        assert(numel(x) == 0 || numel(x) == max(size(x)), "poly: x must be roots or a square matrix, got size ",
               size(x))
        real_ = false
    endif
    z = complex(float64(real(x)), float64(imag(x)))
    n = numel(x)
    z = reshape(z, [1,n])
    p = complex(float64([1]), float64([0]))
    for k = 0..n-1
        p = conv(p, complex(float64([1,0-real(z[k])]), float64([0,0-imag(z[k])])))
    end
    [above, below] = {z[imag(z) > 0], conj(z[imag(z) < 0])}
    if real_ || (numel(above) == numel(below) && isequal(poly_order(above), poly_order(below)))
        p = real(p)
    endif
end

% Complex numbers in an order that does not depend on their positions.
function m = poly_order(z)
    m = sortrows(transpose(vertcat(real(z), imag(z))))
end

% Function: compan
% The companion matrix of a polynomial: its eigenvalues are the roots. scipy.linalg.companion is the same.
function A = compan(p)
    p = coefficients("compan: p", p)
    n = numel(p)
    assert(n >= 2 && abs(p[0]) > 0, "compan: p must have at least 2 coefficients, the first of them not 0")
    A = uninit_like(p, n-1, n-1)
    A[:,:] = 0
    A[0,:] = 0 - p[1..n-1]/p[0]
    for k = 1..n-2
        A[k,k-1] = 1
    end
end

% Function: residue
% Partial fractions: b(s)/a(s) is the sum of r[i]/(s-p[i]) and the polynomial k. A pole that occurs m times is listed m
% times, with the powers 1 … m of 1/(s-p).
%
% Parameters:
% b, a - coefficients, highest power first
% tol - roots of a that are nearer to each other are one pole, at their mean
%
% Returns:
% r, p - complex rows; the order of poles is that of roots(a)
% k - the polynomial, [] if b has a lower degree than a
function [r, p, k] = residue(b, a, tol : scalar = 1e-3)
    [b, a] = {coefficients("residue: b", b), coefficients("residue: a", a)}
    assert(any(abs(a) > 0), "residue: a must have elements other than 0")
    a = a[find_index_max(abs(a) > 0)..numel(a)-1]
    k = []
    if numel(b) >= numel(a)
        [k, b] = deconv(b, a)
        b = b[numel(k)..numel(b)-1]
    endif
    n = numel(a) - 1
    z = n > 0 ? reshape(roots(a), n) : complex(float64(zeros(0)), float64(zeros(0)))
    b = numel(b) > 0 ? b : float64([0])
    [r, p] = {complex(float64(zeros(n)), float64(zeros(n))), copy(z)}
    open = ones(n) > 0
    done = 0
    while done < n
        near = open && abs(z - z[find_index_max(open)]) < max(tol, 1e-300)
        m = sum(near)
        pole = sum(z[near])/m
        % Series of b and of the other factors of a at the pole.
        series = residue_divide(residue_series(b, pole, m), residue_series(a[0]*poly(z[!near]), pole, m))
        r[done..done+m-1] = fliplr(series)
        p[done..done+m-1] = pole + 0*z[0..m-1]
        open = open && !near
        done += m
    end
end

% The first m coefficients of a polynomial of s-at, lowest power first, by divisions.
function c = residue_series(p, at, m)
    c = complex(float64(zeros(m)), float64(zeros(m)))
    q = complex(float64(real(p)), float64(imag(p)))
    for i = 0..m-1
        n = numel(q)
        if n > 0
            for k = 1..n-1
                q[k] = q[k] + at*q[k-1]
            end
            c[i] = q[n-1]
            q = q[0..n-2]
        endif
    end
end

% The quotient of two power series.
function q = residue_divide(a, b)
    q = 0*a
    for i = 0..numel(a)-1
        v = a[i]
        for j = 1..i
            v = v - b[j]*q[i-j]
        end
        q[i] = v/b[0]
    end
end
