% Module: matfun.q
% Functions of matrices, special matrices, sums over groups, integers. Matrices are computed in float64.
import "check.q"

function [] = check_square(what, A)
    assert(ismat(A) && size(A,0) == size(A,1), what, ": A must be a square matrix, got size ", size(A))
end

% A in float64, real or complex.
function B = matrix_wide(A)
    B = isreal(A) ? float64(A) : complex(float64(real(A)), float64(imag(A)))
end

function n = norm_1(A)
    n = numel(A) > 0 ? max(sum(abs(A), 0)) : 0
end

% Function: expm
% The exponential of a square matrix, real or complex, by Padé approximants with scaling and squaring.
% Source: Higham: The scaling and squaring method for the matrix exponential revisited (2005).
%
% :function E = expm(A : mat)
function E = expm(A)
    check_square("expm", A)
    X = matrix_wide(A)
    n = size(X,0)
    I = float64(eye(n))
    size_ = norm_1(X)
    assert(isfinite(size_), "expm: A must have finite elements")
    c = float64([64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, _
                 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1])
    s = size_ > 5.371920351148152 ? ceil(log2(size_/5.371920351148152)) : 0
    X = X/2^s
    X2 = X*X
    X4 = X2*X2
    X6 = X2*X4
    U = X*(X6*(c[13]*X6 + c[11]*X4 + c[9]*X2) + c[7]*X6 + c[5]*X4 + c[3]*X2 + c[1]*I)
    V = X6*(c[12]*X6 + c[10]*X4 + c[8]*X2) + c[6]*X6 + c[4]*X4 + c[2]*X2 + c[0]*I
    E = solve(V - U, V + U)
    for k = 1..s
        E = E*E
    end
end

% Function: sqrtm
% The principal square root of a square matrix without eigenvalues on the negative real axis; complex where A is.
% Source: Higham: Functions of matrices (2008), the scaled product form of the iteration of Denman and Beavers (6.29).
%
% :function R = sqrtm(A : mat)
function R = sqrtm(A)
    R = matrix_root("sqrtm", A)
end

function X = matrix_root(what, A)
    check_square(what, A)
    check_each(strcat(what, ": A must have finite elements"), A, isfinite(A))
    X = matrix_wide(A)
    n = size(X,0)
    M = X
    I = float64(eye(n))
    steps = 0
    error_ = inf
    while error_ > n*1e-15 && steps < 60
        g = steps < 8 ? abs(det(M))^(-1/(2*n)) : 1
        assert(isfinite(g) && g > 0, what, ": A must not be singular, and have no eigenvalue on the negative real axis unless it is complex")
        N = inv(M)
        X = 0.5*g*(X*(I + N/g^2))
        M = 0.5*(I + (g^2*M + N/g^2)/2)
        before = error_
        error_ = norm(M - I)
        steps = error_ >= before && error_ < 1e-10 ? 60 : steps + 1
    end
    assert(error_ < 1e-8, what, ": A must have no eigenvalue on the negative real axis, or be complex")
end

% Function: logm
% The principal logarithm of a square matrix without eigenvalues on the negative real axis, by square roots and a Padé
% approximant. Source: Higham: Functions of matrices (2008), chapter 11.
%
% :function L = logm(A : mat)
function L = logm(A)
    check_square("logm", A)
    check_each("logm: A must have finite elements", A, isfinite(A))
    X = matrix_wide(A)
    n = size(X,0)
    I = float64(eye(n))
    k = 0
    while norm_1(X - I) > 0.25
        X = matrix_root("logm", X)
        k += 1
        assert(k < 100, "logm: A must have no eigenvalue on the negative real axis")
    end
    % The approximant of order 8 is a sum over the points of Gauss and Legendre in [0,1].
    x = float64([0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363])
    w = float64([0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763])
    Y = X - I
    L = 0*Y
    for i = 0..3
        L = L + w[i]/2*(solve(I + (1+x[i])/2*Y, Y) + solve(I + (1-x[i])/2*Y, Y))
    end
    L = 2^k*L
end

% Function: toeplitz, hankel, vander, blkdiag
% Special matrices: constant along diagonals (first column c, first row r), along antidiagonals (first column c, last row r),
% powers of x (highest first), and matrices along the diagonal.
function T = toeplitz(c : vec, r = null)
    row = isnull(r) ? conj(c) : r
    check_filled("toeplitz: c", c)
    check_filled("toeplitz: r", row)
    m = numel(c)
    n = numel(row)
    all_ = horzcat(c[m-1..-1..0], row[1..n-1])
    places = transpose(m-1..-1..0) + (0..n-1)
    T = reshape(all_[reshape(places, [1,m*n])], [m,n])
end

function H = hankel(c : vec, r = null)
    check_filled("hankel: c", c)
    m = numel(c)
    row = isnull(r) ? zeros_like(c) : r
    n = numel(row)
    all_ = horzcat(c, row[1..n-1])
    places = transpose(0..m-1) + (0..n-1)
    H = reshape(all_[reshape(places, [1,m*n])], [m,n])
end

function V = vander(x : vec, n = null)
    count = isnull(n) ? numel(x) : n
    check_whole("vander: n", count, 1)
    V = transpose(x).^(count-1..-1..0)
end

function D = blkdiag(...matrices)
    rows = 0
    columns = 0
    like = []
    for A = matrices
        sample = isscalar(A) ? A : zeros_like(A, 1)
        like = rows + columns == 0 ? sample : horzcat(like, sample)
        rows += size(A,0)
        columns += size(A,1)
    end
    D = zeros_like(like, rows, columns)
    i = 0
    j = 0
    for A = matrices
        D[i..i+size(A,0)-1, j..j+size(A,1)-1] = A
        i += size(A,0)
        j += size(A,1)
    end
end

% Function: polyder, polyint
% The derivative and the integral (with the constant k) of a polynomial, its highest power first.
function d = polyder(p : vec)
    check_filled("polyder: p", p)
    n = numel(p) - 1
    d = n > 0 ? p[0..n-1].*(n..-1..1) : zeros_like(p)
end

function q = polyint(p : vec, k : scalar = 0)
    check_filled("polyint: p", p)
    n = numel(p)
    q = horzcat(p./(n..-1..1), zeros_like(p, 1) + k)
end

% Function: accumarray
% Sums of values by group: a[s] is the sum of v[k] over all k with subs[k] = s; a row of subs is a position [row, column].
% Groups count from 0.
%
% Parameters:
% subs - a vec of groups, or N x 2
% v - as many values, or one for all
% s - the size of the result, a number or [rows, columns]; null is as large as the groups need
function a = accumarray(subs : mat, v = 1, s = null)
    check_each("accumarray: subs must be integers of at least 0", subs, subs >= 0 && subs < inf && subs == floor(subs))
    assert(check_real(v), "accumarray: v must be real numbers, got ", type(v))
    plane = size(subs,0) > 1 && size(subs,1) == 2
    n = plane ? size(subs,0) : numel(subs)
    assert(numel(v) == n || numel(v) == 1, "accumarray: v must have as many elements as subs has groups, ", n, ", got ", numel(v))
    if !isnull(s)
        check_whole("accumarray: s", s, 0, plane ? 2 : 1)
    endif
    list = numel(v) == 1 ? zeros_like(float64([0]), n) + sum(v) : float64(reshape(v, [1,n]))
    if plane
        r = reshape(float64(subs[:,0]), [1,n])
        c = reshape(float64(subs[:,1]), [1,n])
        dims = isnull(s) ? [max(r)+1, max(c)+1] : s
        assert(numel(dims) == 2 && all(r < dims[0]) && all(c < dims[1]), "accumarray: s must be [rows, columns] beyond all groups, got ", dims)
        a = reshape(bincount(r*dims[1] + c, prod(dims), list), dims)
    else
        groups = reshape(subs, [1,n])
        count = isnull(s) ? 0 : s
        assert(isnull(s) || n == 0 || max(groups) < count, "accumarray: s must be greater than all groups, got ", s)
        a = bincount(groups, count, list)
    endif
end

% Function: sortrows
% The rows of a matrix in ascending order of its columns: the first one decides, then the next ones.
%
% Parameters:
% A - a matrix
% columns - which columns decide, in order; null is all
% direction - "ascend" or "descend"
%
% Returns:
% B - the rows in order; rows that are equal keep their order
% i - the old positions
function [B, i] = sortrows(A : mat, columns = null, direction : string = "ascend")
    assert(direction == "ascend" || direction == "descend", "sortrows: direction must be ascend or descend, got ", direction)
    by = isnull(columns) ? 0..size(A,1)-1 : isscalar(columns) ? [columns] : columns
    assert(check_real(by), "sortrows: columns must be integers, got ", type(by))
    check_each(sprintf("sortrows: columns must be integers from 0 to %d", size(A,1)-1), by, _
               by >= 0 && by < size(A,1) && by == floor(by))
    i = float64(0..size(A,0)-1)
    for k = numel(by)-1..-1..0
        column = reshape(A[i,by[k]], [1,numel(i)])
        if direction == "ascend"
            [_, order] = sort(column)
        else
            [_, order] = sort(column, "descend")
        endif
        i = i[order]
    end
    B = A[i,:]
end

% Function: gcd, lcm
% The greatest common divisor and least common multiple of integers below 2^53, elementwise with broadcasting.
function g = gcd(a, b)
    check_integers("gcd: a", a, 1-2^53)
    check_integers("gcd: b", b, 1-2^53)
    g = common_divisor(a, b)
end

% Checks for integers from `least` to 2^53-1, elementwise.
function [] = check_integers(what, x, least)
    rule = strcat(what, " must be integers ", least < 0 ? "below 2^53 in magnitude" : "from 0 to 2^53")
    assert(check_real(x), rule, ", got ", check_got(x))
    check_each(rule, x, x >= least && x < 2^53 && x == floor(x))
end

function g = common_divisor(a, b)
    g = abs(a + 0*b)
    r = abs(b + 0*a)
    while any(r > 0)
        next = r > 0 ? mod(g, r > 0 ? r : 1) : 0
        g = r > 0 ? r : g
        r = next
    end
end

function m = lcm(a, b)
    check_integers("lcm: a", a, 1-2^53)
    check_integers("lcm: b", b, 1-2^53)
    g = common_divisor(a, b)
    m = abs(a./(g > 0 ? g : 1).*b)
    check_each("lcm: results must be below 2^53, which a float64 holds exactly", m, m < 2^53)
end

% Function: primes, isprime, factor
% The primes up to n, in ascending order; whether integers (below 2^53) are prime; the prime factors of an integer.
function p = primes(n : scalar)
    assert(n < 1e9, "primes: n must be less than 1e9, got ", n)
    last = max(floor(n), 1)
    sieve = vec[uint8](last+1)
    prime_sieve(sieve)
    p = find(sieve == 0)[:,1]
    p = float64(reshape(p, [1,numel(p)]))
    p = p[p > 1]
end

% Marks all numbers that have a smaller factor.
function [] = prime_sieve(sieve : vec[uint8])
    last = numel(sieve) - 1
    i = 2
    while i*i <= last
        if sieve[i] == 0
            for k = i*i..i..last
                sieve[k] = 1
            end
        endif
        i += 1
    end
end

function y = isprime(x)
    check_integers("isprime: x", x, 0)
    list = isscalar(x) ? float64([x]) : reshape(float64(x), [1,numel(x)])
    marks = uint8(list > 1)
    prime_mark(list, marks)
    y = isscalar(x) ? marks[0] > 0 : reshape(marks, size(x)) > 0
end

% The smallest factor of n from `from` on, a number of the form 6k-1 or less; n itself if there is none.
function f = smallest_factor(n, from)
    f = n
    if from <= 2 && n - 2*floor(n/2) == 0
        f = 2
    elseif from <= 3 && n - 3*floor(n/3) == 0
        f = 3
    else
        k = max(from, 5)
        while k*k <= n && f == n
            if n - k*floor(n/k) == 0
                f = k
            elseif n - (k+2)*floor(n/(k+2)) == 0
                f = k + 2
            endif
            k += 6
        end
    endif
end

function [] = prime_mark(list, marks)
    for i = 0..numel(list)-1
        if marks[i] > 0 && smallest_factor(list[i], 2) < list[i]
            marks[i] = 0
        endif
    end
end

function p = factor(n : scalar)
    assert(n >= 1 && n == floor(n) && n < 2^53, "factor: n must be an integer from 1 to 2^53, got ", n)
    p = float64([])
    from = 2
    while n > 1
        f = smallest_factor(n, from)
        from = f < 5 ? f : f - mod(f + 1, 6)
        p = horzcat(p, float64([f]))
        n = n/f
    end
    p = numel(p) == 0 ? float64([n]) : p
end

% Function: nchoosek
% The number of ways to choose k of n things, exact up to 2^53 and beyond it with the rounding of float64.
function c = nchoosek(n : scalar, k : scalar)
    assert(n >= 0 && n < inf && k >= 0 && k <= n && n == floor(n) && k == floor(k), _
           "nchoosek: n and k must be integers with 0 <= k <= n, got ", n, " and ", k)
    c = 1
    least = min(k, n-k)
    i = 1
    while i <= least && c < inf
        next = n - least + i
        g = c < 2^53 ? common_divisor(c, i) : 1
        c = c < 2^53 ? c/g*(next/(i/g)) : c*(next/i)
        i += 1
    end
end

% Function: bin2dec
% The number that digits of base 2 write; of a cell of strings, a row of numbers.
function n = bin2dec(text)
    n = digits_value("bin2dec", text, 2)
end

% Function: hex2dec
% The number that digits of base 16 write; of a cell of strings, a row of numbers.
function n = hex2dec(text)
    n = digits_value("hex2dec", text, 16)
end

function n = digits_value(what, text, base)
    if iscell(text)
        n = float64(zeros(numel(text)))
        for i = 0..numel(text)-1
            n[i] = digits_value(what, text[i], base)
        end
        return
    end
    assert(isstring(text), what, ": text must be a string, got ", type(text))
    digits = lcase(strrep(text, " ", ""))
    assert(strlen(digits) > 0, what, ": text must have digits")
    n = 0
    for i = 0..strlen(digits)-1
        k = strfind("0123456789abcdef"[0..base-1], digits[i])
        assert(k >= 0, what, ": ", digits[i], " is no digit of base ", base, " in ", text)
        n = base*n + k
    end
    assert(n <= 2^53, what, ": ", text, " is larger than 2^53, the largest number that is exact")
end

% Function: dec2bin
% The digits of base 2 of an integer, at least `digits` of them; of an array, a cell of strings of one length.
function text = dec2bin(n, digits : int = 1)
    text = digits_text("dec2bin", n, 2, digits)
end

% Function: dec2hex
% The digits of base 16 of an integer, in capitals, at least `digits` of them; of an array, a cell of strings of one
% length.
function text = dec2hex(n, digits : int = 1)
    text = digits_text("dec2hex", n, 16, digits)
end

function text = digits_text(what, n, base, least)
    check_integers(strcat(what, ": n"), n, 0)
    check_filled(strcat(what, ": n"), n)
    list = float64(reshape(n, [1,numel(n)]))
    while base^least <= max(list)
        least += 1
    end
    words = cell(numel(list))
    for i = 0..numel(list)-1
        words[i] = ""
        v = list[i]
        for k = 1..least
            d = mod(v, base)
            words[i] = strcat("0123456789ABCDEF"[d..d], words[i])
            v = (v - d)/base
        end
    end
    text = numel(n) == 1 ? words[0] : words
end

% Function: rem
% The rest of a division, with the sign of a; nan where b is 0. mod has the sign of b. np.fmod is the same.
function r = rem(a, b)
    r = mod(abs(a), abs(b))
    r = a < 0 ? 0 - r : r
end

% Function: fix
% x without its fraction, rounded toward zero; the same as trunc.
function y = fix(x)
    y = trunc(x)
end

% Function: rot90
% A matrix or image turned by k quarters of a turn, counter-clockwise.
function y = rot90(x : cube, k = 1)
    check_whole("rot90: k", k, -inf)
    match mod(sum(k), 4) with
    | 0 -> y = x
    | 1 -> y = flipud(permute(x, [1,0,2]))
    | 2 -> y = flipud(fliplr(x))
    | 3 -> y = fliplr(permute(x, [1,0,2]))
    end
    if ndims(x) <= 2
        y = reshape(y, [size(y,0),size(y,1)])
    endif
end

% Function: perms
% All orders of the elements of a vec, one per row, the last one first, as in MATLAB; n! rows for n elements, at most
% 10. itertools.permutations begins with the first one.
function P = perms(v : vec)
    n = numel(v)
    assert(n <= 10, "perms: v must have at most 10 elements, got ", n)
    at = float64(zeros(1, 0))
    for k = 0..n-1
        % Each element in turn before all orders of the ones in front of it.
        count = size(at,0)
        next = float64(zeros((k+1)*count, k+1))
        for i = k..-1..0
            rows = (k-i)*count..(k-i+1)*count-1
            next[rows,0] = i
            if k > 0
                next[rows,1..k] = at + (at >= i ? 1 : 0)
            endif
        end
        at = next
    end
    P = n > 0 ? reshape(v[int(reshape(at, [1,numel(at)]))], size(at)) : v
end

% Function: orth
% An orthonormal basis of the columns of a matrix: columns of U of the singular value decomposition, for values above
% rcond times the largest one; null is eps*max(size(A)). As scipy.linalg.orth.
function Q = orth(A : mat, rcond = null)
    [U, S, V] = svd(matrix_wide(A))
    r = svd_rank("orth", A, S, rcond)
    Q = U[:,0..r-1]
end

% Function: null_space
% An orthonormal basis of the vectors that a matrix maps to 0, MATLAB's null: columns of V of the singular value
% decomposition, for values of at most rcond times the largest one; null is eps*max(size(A)). As
% scipy.linalg.null_space.
function Z = null_space(A : mat, rcond = null)
    B = matrix_wide(A)
    [m, n] = size(A, 0..1)
    if m < n    % svd gives min(m,n) columns; rows of zeros do not change the vectors
        B = vertcat(B, zeros_like(B, n-m, n))
    endif
    [U, S, V] = svd(B)
    Z = V[:,svd_rank("null_space", A, S, rcond)..n-1]
end

function r = svd_rank(what, A, S, rcond)
    rcond = isnull(rcond) ? eps*max(size(A)) : rcond
    check_least(strcat(what, ": rcond"), rcond, 0)
    s = real(diag(S))
    r = numel(s) > 0 ? sum(s > rcond*max(s)) : 0
end

% Function: logspace
% n numbers from 10^a to 10^b whose logarithms have equal distances, in float64.
function y = logspace(a : scalar, b : scalar, n : int = 50)
    check_whole("logspace: n", n, 1)
    t = n > 1 ? a + (b - a)*float64(0..n-1)/(n-1) : float64([b])
    y = 10.^t
end

% Function: deg2rad, rad2deg
% Degrees as radians, and radians as degrees.
function y = deg2rad(x)
    y = x*(pi/180)
end

function y = rad2deg(x)
    y = x*(180/pi)
end

% Function: sinc
% sin(pi*x)/(pi*x), and 1 at 0, as in MATLAB and NumPy.
function y = sinc(x)
    t = pi*x
    y = x == 0 ? 1 : sin(t)./(x == 0 ? 1 : t)
end

% Function: nthroot
% The real root of degree n, an integer other than 0; of negative numbers for odd n only.
function y = nthroot(x, n)
    check_whole("nthroot: n", n, -inf)
    assert(n != 0, "nthroot: n must not be 0")
    assert(check_real(x) && (mod(n, 2) == 1 || !any(x < 0)),
           "nthroot: x must be real, and not negative for an even n, got ", check_got(x))
    r = abs(x).^(1/n)
    y = x < 0 ? 0 - r : r
end

% Function: sind, cosd, tand
% Sine, cosine and tangent of degrees, exact at multiples of 90.
function y = sind(x)
    t = rem(x, 360)
    y = mod(t, 180) == 0 ? 0*t : mod(t, 90) == 0 ? (mod(t, 360) == 90 ? 1 : -1) + 0*t : sin(t*(pi/180))
end

function y = cosd(x)
    t = abs(rem(x, 360))
    y = mod(t, 180) == 90 ? 0*t : mod(t, 180) == 0 ? (mod(t, 360) == 0 ? 1 : -1) + 0*t : cos(t*(pi/180))
end

function y = tand(x)
    y = sind(x)./cosd(x) + 0 % no -0
end

% Function: polyarea
% The area of a polygon with the corners x, y in order.
function a = polyarea(x, y)
    check_finite("polyarea: x", x)
    check_finite("polyarea: y", y)
    check_alike("polyarea: x and y", x, y)
    n = numel(x)
    [u, v] = {float64(reshape(x, [1,n])), float64(reshape(y, [1,n]))}
    next = mod(float64(0..n-1) + 1, max(n, 1))
    a = n > 0 ? abs(sum(u.*v[next] - u[next].*v))/2 : 0
end
