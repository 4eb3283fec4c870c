% Module: dct.q
% Cosine transforms of signals and grey images, orthonormal: the sum of squares stays, and the inverse is the transpose.
% Source: Makhoul: A fast cosine transform in one and two dimensions (1980).

% In the Fourier transform the even samples come first, then the odd ones backward, from dct_last(n) on.
function last = dct_last(n : int)
    last = n-1-mod(n,2)
end

% The factors that were used last, forward and inverse, for each dim: {n, type, a, b}.
dct_kept = cell(2,2)

% Returns c and s, the cosine and sine of pi*k/(2*n) times sqrt(2/n), along dim and of the type of x; for the
% inverse c-s and c+s of half of them.  c[0] is sqrt(1/n).  The sine is the cosine of n-k.
function [a, b] = dct_factors(n : int, inverse : int, x, dim : int)
    kept = dct_kept[inverse,dim]
    if !isnull(kept) && kept[0] == n && kept[1] == type(x)
        a = kept[2]
        b = kept[3]
    else
        c = cast_like(cos(float64(0..n-1)*(pi/(2*n)))*sqrt(inverse ? 1/(2*n) : 2/n), x)
        c[0] = sqrt(1/n)
        s = zeros_like(c)
        s[1..n-1] = c[n-1..-1..1]
        a = dct_line(inverse ? c-s : c, dim)
        b = dct_line(inverse ? c+s : s, dim)
        if n > 65536                            % of long ones one is kept, if it needs at most 16 MiB
            for k = 0..3
                dct_kept[floor(k/2),mod(k,2)] = null
            end
        end
        if n <= 1048576
            dct_kept[inverse,dim] = {n, type(x), a, b}
        end
    end
end

function y = dct_line(x, dim)
    y = dim == 1 ? x : transpose(x)
end

% The adjoint of an orthonormal transform is its inverse.
function dx = dct_rule(x, dim, y, dy)
    dx = cast_like(idct_lines(dy, dim), x)
end

function dy = idct_rule(y, dim, x, dx)
    dy = cast_like(dct_lines(dx, dim), y)
end

{!adjoint dct_rule}
function y = dct_lines(x, dim)
    n = size(x, dim)
    last = dct_last(n)
    V = fft1(dim == 1 ? horzcat(x[:,0..2..n-1], x[:,last..-2..1]) : vertcat(x[0..2..n-1,:], x[last..-2..1,:]), dim)
    [c, s] = dct_factors(n, 0, real(V[0,0..0]), dim)
    y = real(V).*c + imag(V).*s
end

% The spectrum V of the reordered samples is that of real numbers, so that real(V)-imag(V) is their Hartley transform,
% whose inverse is a Hartley transform.
{!adjoint idct_rule}
function x = idct_lines(y, dim)
    n = size(y, dim)
    last = dct_last(n)
    [a, b] = dct_factors(n, 1, y, dim)
    back = uninit_like(y)                       % y[n-k] for each k
    if dim == 1
        back[:,0] = 0
        back[:,1..n-1] = y[:,n-1..-1..1]
    else
        back[0,:] = 0
        back[1..n-1,:] = y[n-1..-1..1,:]
    end
    V = fft1(y.*a + back.*b, dim)
    x = uninit_like(y)
    m = n-int(floor(n/2))
    if dim == 1
        h = real(V) - imag(V)
        x[:,0..2..n-1] = h[:,0..m-1]
        x[:,last..-2..1] = h[:,m..n-1]
    else
        x[0..2..n-1,:] = real(V[0..m-1,:])-imag(V[0..m-1,:])
        x[last..-2..1,:] = real(V[m..n-1,:])-imag(V[m..n-1,:])
    end
end

function y = dct_along(what, x, dim, lines)
    d = isnull(dim) ? (size(x, 0) > 1 ? 0 : 1) : dim
    assert(d == 0 || d == 1, what, ": dim must be 0 or 1, got ", d)
    y = isempty(x) ? x : reshape(lines(x, d), size(x))
end

% Function: dct1
% The cosine transform (DCT-II) along dim, 0 or 1 (the first longer than 1): y[k] is the sum of
% x[i]*cos(pi*k*(2*i+1)/(2*n)) times sqrt(2/n), for k = 0 times sqrt(1/n).
%
% See also: <idct1>, <dct2>
function y = dct1(x : mat, dim = null)
    y = dct_along("dct1", x, dim, dct_lines)
end

% Function: idct1
% The inverse of dct1.
function x = idct1(y : mat, dim = null)
    x = dct_along("idct1", y, dim, idct_lines)
end

% Function: dct2
% The cosine transform of the columns and rows of an image.
%
% See also: <idct2>, <dct1>
function y = dct2(x : mat)
    y = dct1(dct1(x, 0), 1)
end

% Function: idct2
% The inverse of dct2.
function x = idct2(y : mat)
    x = idct1(idct1(y, 0), 1)
end
