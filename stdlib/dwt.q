% Module: dwt.q
% Discrete wavelet transforms of images with orthonormal filters and periodic borders.
% Sources: Mallat: A theory for multiresolution signal decomposition (1989); Daubechies: Ten lectures on wavelets (1992).
import "check.q"

% The low-pass filters of Daubechies with 1, 2, 3 and 4 vanishing moments,
filtercoeff_haar = float64([1,1]/sqrt(2))
filtercoeff_daub2 = float64([1+sqrt(3), 3+sqrt(3), 3-sqrt(3), 1-sqrt(3)]/(4*sqrt(2)))
filtercoeff_daub3 = float64([0.33267055295008263, 0.80689150931109255, 0.45987750211849154,
                             -0.13501102001025458, -0.08544127388202666, 0.03522629188570953])
filtercoeff_daub4 = float64([0.23037781330889650, 0.71484657055291570, 0.63088076792985890, -0.02798376941685985,
                             -0.18703481171909309, 0.03084138183556076, 0.03288301166688520, -0.01059740178506903])
% and with 8, under the name that other systems use.
db8 = float64([0.054415842243104010, 0.31287159091429997, 0.67563073629728981, 0.58535468365420671,
               -0.015829105256349306, -0.28401554296154693, 0.00047248457391328277, 0.12874742662047846,
               -0.017369301001807546, -0.044088253930794752, 0.013981027917398282, 0.0087460940474057767,
               -0.0048703529934515743, -0.00039174037337694705, 0.00067544940645056937, -0.00011747678412476953])

% Returns the high-pass filter of a low-pass filter.
function g = wavelet_highpass(h : vec)
    n = numel(h)
    g = fliplr(h).*(1 - 2*mod(0..n-1, 2))
end

function [] = __kernel__ dwt_split(low : cube'unchecked, high : cube'unchecked, x : cube'circular, h : vec'unchecked, g : vec'unchecked, dim : int, pos : ivec3)
    a = 0.0
    b = 0.0
    for k = 0..numel(h)-1
        v = dim == 0 ? x[2*pos[0]+k,pos[1],pos[2]] : dim == 1 ? x[pos[0],2*pos[1]+k,pos[2]] : x[pos[0],pos[1],2*pos[2]+k]
        a += h[k]*v
        b += g[k]*v
    end
    low[pos] = a
    high[pos] = b
end

% Inverts the filters: sample n is the sum of coefficients m with weights h[n-2m].
function [] = __kernel__ dwt_join(y : cube'unchecked, low : cube'circular, high : cube'circular, h : vec'unchecked, g : vec'unchecked, dim : int, pos : ivec3)
    n = pos[dim]
    s = 0.0
    for k = mod(n,2)..2..numel(h)-1
        m = shr(n-k, 1)
        if dim == 0
            s += h[k]*low[m,pos[1],pos[2]] + g[k]*high[m,pos[1],pos[2]]
        elseif dim == 1
            s += h[k]*low[pos[0],m,pos[2]] + g[k]*high[pos[0],m,pos[2]]
        else
            s += h[k]*low[pos[0],pos[1],m] + g[k]*high[pos[0],pos[1],m]
        endif
    end
    y[pos] = s
end

function [low, high] = dwt_along(x : cube, h : vec, dim : int)
    s = size(x)
    s[dim] = s[dim]/2
    h = cast_like(h, x)
    low = uninit_like(x, s)
    high = uninit_like(x, s)
    parallel_do(size(low, 0..2), low, high, x, h, wavelet_highpass(h), dim, dwt_split)
end

function y = idwt_along(low : cube, high : cube, h : vec, dim : int)
    s = dim == 2 ? size(low, 0..2) : size(low)
    s[dim] = 2*s[dim]
    h = cast_like(h, low)
    y = uninit_like(low, s)
    parallel_do(size(y, 0..2), y, low, high, h, wavelet_highpass(h), dim, dwt_join)
end

% Computes one level in two dimensions, with separate filters for columns (down) and rows (right).
function [low, bands] = dwt2d_level(x : cube, down : vec, right : vec)
    [l, h] = dwt_along(x, right, 1)
    [ll, lh] = dwt_along(l, down, 0)
    [hl, hh] = dwt_along(h, down, 0)
    low = ll
    bands = {lh, hl, hh}
end

function x = idwt2d_level(low : cube, bands, down : vec, right : vec)
    x = idwt_along(idwt_along(low, bands[0], down, 0), idwt_along(bands[1], bands[2], down, 0), right, 1)
end

% Checks the extents s, which are halved J times.
function [] = dwt_check(what, s, J : int)
    check_least(strcat(what, ": J"), J, 0)
    assert(all(mod(s, 2^J) == 0), what, ": ", J, " levels need extents that ", 2^J, " divides, got ", s)
end

% Function: dwt2d
% The wavelet coefficients of an image.
%
% Parameters:
% x - height x width or height x width x channels, both divisible by 2^J
% w - the low pass filter, e.g. filtercoeff_daub2
% J - how many levels
%
% Returns:
% a cell of J+1 entries: for each level, finest first, the cell {vertical, horizontal, diagonal details}; then the rest
function W = dwt2d(x : cube, w : vec, J : int)
    dwt_check("dwt2d", size(x, 0..1), J)
    check_filled("dwt2d: w", w)
    W = cell(J+1)
    low = x
    for j = 0..J-1
        [next, bands] = dwt2d_level(low, w, w)
        W[j] = bands
        low = next
    end
    W[J] = low
end

% Function: idwt2d
% The image of wavelet coefficients.
%
% :function x = idwt2d(W : vec[??], w : vec)
function x = idwt2d(W, w : vec)
    J = numel(W)-1
    x = W[J]
    for j = J-1..-1..0
        x = idwt2d_level(x, W[j], w, w)
    end
end
