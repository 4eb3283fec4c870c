% Module: polynomials.q
% Polynomials as rows of coefficients, highest power first, as in MATLAB and numpy.poly1d. Results are float64, or
% complex.
import "check.q"
import "matfun.q"

% A row of coefficients, float64 or complex.
function p = coefficients(what, p)
    assert(isnumeric(p) && numel(p) > 0, what, " must be a row of coefficients, got ", isnumeric(p) ? size(p) : type(p))
    assert(numel(p) == max(size(p)), what, " must be a row of coefficients, got size ", size(p))
    p = reshape(p, [1,numel(p)])
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
