% Module: dct.q
% Cosine transforms of signals and grey images, orthonormal: the sum of squares stays, and the inverse is the transpose.
% Source: Makhoul: A fast cosine transform in one and two dimensions (1980).

% Returns the order of the samples in the Fourier transform: even ones forward, then odd ones backward.
function k = dct_order(n : int)
    k = horzcat(0..2..n-1, n-1-mod(n,2)..-2..1)
end

% Returns exp(s*j*pi*k/(2*n)) for each k, to multiply the spectrum V by.
function w = dct_iterations(n : int, s, V)
    w = cast_like(exp(float64(0..n-1)*(s*1j*pi/(2*n))), V)
end

function y = dct_rows(x)
    n = size(x, 1)
    V = fft1(x[:,dct_order(n)], 1)
    y = sqrt(2/n)*real(V.*dct_iterations(n, -1, V))
    y[:,0] /= sqrt(2)
end

function x = idct_rows(y)
    n = size(y, 1)
    c = y*sqrt(n/2)
    c[:,0] *= sqrt(2)
    back = zeros_like(c)                       % c[n-k] for each k
    back[:,1..n-1] = -c[:,n-1..-1..1]
    V = complex(c, back)
    x = uninit_like(c)
    x[:,dct_order(n)] = real(ifft1(V.*dct_iterations(n, 1, V), 1))
end

function y = dct_along(what, x, dim, rows)
    d = isnull(dim) ? (size(x, 0) > 1 ? 0 : 1) : dim
    assert(d == 0 || d == 1, what, ": dim must be 0 or 1, got ", d)
    if isempty(x)
        y = x
    elseif d == 1
        y = rows(x)
    else
        y = transpose(rows(transpose(x)))
    endif
end

% Function: dct1
% The cosine transform (DCT-II) along dim, 0 or 1 (the first longer than 1): y[k] is the sum of
% x[i]*cos(pi*k*(2*i+1)/(2*n)) times sqrt(2/n), for k = 0 times sqrt(1/n).
%
% See also: <idct1>, <dct2>
%
% :function y = dct1(x : mat, dim = null)
function y = dct1(x : mat, dim = null)
    y = dct_along("dct1", x, dim, dct_rows)
end

% Function: idct1
% The inverse of dct1.
%
% :function x = idct1(y : mat, dim = null)
function x = idct1(y : mat, dim = null)
    x = dct_along("idct1", y, dim, idct_rows)
end

% Function: dct2
% The cosine transform of the columns and rows of an image.
%
% See also: <idct2>, <dct1>
%
% :function y = dct2(x : mat)
function y = dct2(x : mat)
    y = dct1(dct1(x, 0), 1)
end

% Function: idct2
% The inverse of dct2.
%
% :function x = idct2(y : mat)
function x = idct2(y : mat)
    x = idct1(idct1(y, 0), 1)
end
