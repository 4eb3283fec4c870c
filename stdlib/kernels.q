% kernels.q -- built-ins for small arrays in kernels.
%
% A kernel that calls a built-in without a form of its own, such as det(m), gets the function kernel_det of this file;
% [q, r] = qr(m), with several results, gets kernel_full_qr.  If only one of the two exists, it serves both calls.  The
% functions mean what the built-ins of the host mean, and have derivatives as all code of kernels has.  Sizes are
% constants in a kernel, so that branches on them cost nothing.  A vec is a row: its elements lie along dimension 1, and
% x[0,j] is element j.

% The array of n elements along dim, with as many lines along it as x has.
function y = __device__ with_extent(x, dim, n)
    y = dim == 0 ? uninit_like(x, n, size(x,1)) : uninit_like(x, size(x,0), n)
end

function y = __device__ main_dim(x)
    y = size(x,0) == 1 ? 1 : 0
end

% The dimension across the lines along dim.
function d = __device__ across(dim)
    assert(dim == 0 || dim == 1, "in kernels a dimension is 0 or 1")
    d = dim == 0 ? 1 : 0
end

% Element k of the line with this number along dim.
function y = __device__ element(x, dim, line, k)
    y = dim == 0 ? x[k,line] : x[line,k]
end

function y = __device__ identity_like(x, n)
    y = zeros_like(x, n, n)
    for i = 0..n-1
        y[i,i] = 1
    end
end

% -- products and linear systems ---------------------------------------------------------------------------------------

function y = __device__ kernel_cross(a, b)
    y = uninit_like(a.*b)
    y[0] = a[1]*b[2] - a[2]*b[1]
    y[1] = a[2]*b[0] - a[0]*b[2]
    y[2] = a[0]*b[1] - a[1]*b[0]
end

function y = __device__ kernel_trace(a)
    assert(size(a,0) == size(a,1), "trace: the matrix must be square")
    y = a[0,0]
    for i = 1..size(a,0)-1
        y += a[i,i]
    end
end

function y = __device__ kernel_kron(a, b)
    y = uninit_like(a[0,0]*b[0,0], size(a,0)*size(b,0), size(a,1)*size(b,1))
    for i = 0..size(a,0)-1
        for j = 0..size(a,1)-1
            for k = 0..size(b,0)-1
                for l = 0..size(b,1)-1
                    y[i*size(b,0)+k, j*size(b,1)+l] = a[i,j]*b[k,l]
                end
            end
        end
    end
end

% Eliminates below the diagonal with the largest pivots, in a and in the columns of b; sign: that of the permutation.  Each
% row with a larger pivot is exchanged at once: an index of the largest one would keep the matrix in memory.  The host
% computes small systems by the same steps (small_solve in linalg.c).
function [a, b, sign] = __device__ eliminated(a, b)
    n = size(a,0)
    assert(n == size(a,1), "the matrix must be square")
    sign = 1
    for k = 0..n-1
        for i = k+1..n-1
            if abs(a[i,k]) > abs(a[k,k])
                sign = -sign
                for j = k..n-1
                    t = a[k,j]
                    a[k,j] = a[i,j]
                    a[i,j] = t
                end
                for j = 0..size(b,1)-1
                    t = b[k,j]
                    b[k,j] = b[i,j]
                    b[i,j] = t
                end
            end
        end
        for i = k+1..n-1
            f = a[k,k] == 0 ? a[k,k] : a[i,k]/a[k,k]
            for j = k..n-1
                a[i,j] -= f*a[k,j]
            end
            for j = 0..size(b,1)-1
                b[i,j] -= f*b[k,j]
            end
        end
    end
end

function y = __device__ kernel_det(a)
    n = size(a,0)
    assert(n == size(a,1), "det: the matrix must be square")
    if n == 1
        y = a[0,0]
    elseif n == 2
        y = a[0,0]*a[1,1] - a[0,1]*a[1,0]
    elseif n == 3
        y = a[0,0]*(a[1,1]*a[2,2] - a[1,2]*a[2,1]) - a[0,1]*(a[1,0]*a[2,2] - a[1,2]*a[2,0]) _
            + a[0,2]*(a[1,0]*a[2,1] - a[1,1]*a[2,0])
    else
        [u, none, sign] = eliminated(copy(a), zeros_like(a, n, 1))
        y = sign*u[0,0]
        for k = 1..n-1
            y *= u[k,k]
        end
    end
end

% Solves by elimination; regular: no pivot is zero.  stdlib/linalg.c computes small systems by the same steps.
function [x, regular] = __device__ small_solve(a, b)
    n = size(a,0)
    assert(size(b,0) == n, "solve: b must have as many rows as a")
    [u, x, sign] = eliminated(copy(a), copy(b))
    regular = true
    for i = 0..n-1
        regular = regular && u[i,i] != 0
    end
    for j = 0..size(b,1)-1
        for i = n-1..-1..0
            t = x[i,j]
            for k = i+1..n-1
                t -= u[i,k]*x[k,j]
            end
            x[i,j] = t/u[i,i]
        end
    end
end

function x = __device__ kernel_solve(a, b)
    [x, none] = small_solve(a, b)
end

function x = __device__ kernel_linsolve(a, b)
    x = kernel_solve(a, b)
end

function [y, regular] = __device__ small_inv(a)
    [y, regular] = small_solve(a, identity_like(a, size(a,0)))
end

function y = __device__ kernel_inv(a)
    [y, none] = small_inv(a)
end

% L*U = A[p,:] with partial pivoting; a singular column is skipped.
function [l, u, p] = __device__ kernel_full_lu(a)
    m = size(a,0)
    n = size(a,1)
    k = min(m, n)
    work = copy(a)
    p = zeros_like(0*a[0,0], 1, m)
    for i = 0..m-1
        p[i] = i
    end
    for c = 0..k-1
        best = c
        most = abs(work[c,c])
        for i = c+1..m-1
            larger = abs(work[i,c]) > most
            best = larger ? i : best
            most = larger ? abs(work[i,c]) : most
        end
        for i = c+1..m-1
            for j = 0..n-1
                t = work[i,j]
                work[i,j] = best == i ? work[c,j] : t
                work[c,j] = best == i ? t : work[c,j]
            end
            t = p[i]
            p[i] = best == i ? p[c] : t
            p[c] = best == i ? t : p[c]
        end
        for i = c+1..m-1
            work[i,c] = work[c,c] == 0 ? work[c,c] : work[i,c]/work[c,c]
            for j = c+1..n-1
                work[i,j] -= work[i,c]*work[c,j]
            end
        end
    end
    l = zeros_like(a, m, k)
    u = zeros_like(a, k, n)
    for i = 0..m-1
        for j = 0..k-1
            l[i,j] = i == j ? 1 : i > j ? work[i,j] : 0
        end
    end
    for i = 0..k-1
        for j = i..n-1
            u[i,j] = work[i,j]
        end
    end
end
function l = __device__ kernel_lu(a)
    assert(false, "lu: has two or three results, write [L, U] = lu(A)")
    l = a
end

% L*U = A: the rows of L in the order of A.
function [l, u] = __device__ kernel_two_lu(a)
    [m, u, p] = kernel_full_lu(a)
    l = zeros_like(m, size(m,0), size(m,1))
    for i = 0..size(m,0)-1
        for j = 0..size(m,1)-1
            for k = 0..size(m,0)-1
                l[i,j] = p[k] == i ? m[k,j] : l[i,j]
            end
        end
    end
end

% -- decompositions ----------------------------------------------------------------------------------------------------

function r = __device__ kernel_chol(a)
    n = size(a,0)
    assert(n == size(a,1), "chol: the matrix must be square")
    r = zeros_like(a, n, n)
    for i = 0..n-1
        for j = i..n-1
            t = a[i,j]
            for k = 0..i-1
                t -= conj(r[k,i])*r[k,j]
            end
            r[i,j] = i == j ? sqrt(t) : t/r[i,i]
        end
    end
end

% Makes the columns orthogonal one after the other, twice each, so that rounding does not spoil it.
function [q, r] = __device__ kernel_full_qr(a)
    m = size(a,0)
    n = size(a,1)
    q = zeros_like(a, m, min(m,n))
    r = zeros_like(a, min(m,n), n)
    for j = 0..n-1
        v = zeros_like(a, m, 1)
        for t = 0..m-1
            v[t,0] = a[t,j]
        end
        for again = 0..1
            for i = 0..min(j, min(m,n))-1
                c = 0*a[0,0]
                for t = 0..m-1
                    c += q[t,i]*v[t,0]
                end
                r[i,j] += c
                for t = 0..m-1
                    v[t,0] -= c*q[t,i]
                end
            end
        end
        if j < min(m,n)
            c = 0*a[0,0]
            for t = 0..m-1
                c += v[t,0]*v[t,0]
            end
            r[j,j] = sqrt(c)
            for t = 0..m-1
                q[t,j] = c > 0 ? v[t,0]/r[j,j] : 0
            end
        end
    end
end

% Gives the first large element of each column of v its sign: positive.  The columns of u change with them.
function [v, u] = __device__ signed_columns(v, u)
    for j = 0..size(v,1)-1
        large = 0*v[0,0]
        for i = 0..size(v,0)-1
            large = max(large, abs(v[i,j]))
        end
        first = 0*large
        for i = size(v,0)-1..-1..0
            first = abs(v[i,j]) >= 0.9*large ? v[i,j] : first
        end
        if first < 0
            for i = 0..size(v,0)-1
                v[i,j] = -v[i,j]
            end
            for i = 0..size(u,0)-1
                u[i,j] = -u[i,j]
            end
        end
    end
end

% The sine and cosine that make the off-diagonal element of [[a,b],[b,d]] zero.
function [s, c] = __device__ jacobi_angle(a, b, d)
    s = 0*b
    c = s + 1
    if b != 0
        h = (d - a)/(2*b)
        t = (h < 0 ? -1 : 1)/(abs(h) + sqrt(h*h + 1))
        c = 1/sqrt(t*t + 1)
        s = t*c
    end
end

% Exchanges columns so that d ascends (way 1) or descends (way -1).
function [d, v, u] = __device__ sorted_columns(d, v, u, way)
    for i = 1..numel(d)-1
        for j = i..-1..1
            if way*d[j] < way*d[j-1]
                t = d[j]
                d[j] = d[j-1]
                d[j-1] = t
                for k = 0..size(v,0)-1
                    t = v[k,j]
                    v[k,j] = v[k,j-1]
                    v[k,j-1] = t
                end
                for k = 0..size(u,0)-1
                    t = u[k,j]
                    u[k,j] = u[k,j-1]
                    u[k,j-1] = t
                end
            end
        end
    end
end

% Jacobi's method: eight sweeps are enough for small matrices in float64.
function [v, d] = __device__ kernel_full_symeig(m)
    n = size(m,0)
    assert(n == size(m,1), "symeig: the matrix must be square")
    a = zeros_like(m, n, n)
    v = identity_like(m, n)
    for i = 0..n-1
        for j = 0..n-1
            a[i,j] = m[max(i,j),min(i,j)]
        end
    end
    for sweep = 1..8
        for p = 0..n-2
            for q = p+1..n-1
                [s, c] = jacobi_angle(a[p,p], a[p,q], a[q,q])
                for k = 0..n-1
                    x = a[k,p]
                    y = a[k,q]
                    a[k,p] = c*x - s*y
                    a[k,q] = s*x + c*y
                end
                for k = 0..n-1
                    x = a[p,k]
                    y = a[q,k]
                    a[p,k] = c*x - s*y
                    a[q,k] = s*x + c*y
                    x = v[k,p]
                    y = v[k,q]
                    v[k,p] = c*x - s*y
                    v[k,q] = s*x + c*y
                end
            end
        end
    end
    d = zeros_like(m, 1, n)
    for i = 0..n-1
        d[i] = a[i,i]
    end
    [d, v, none] = sorted_columns(d, v, zeros_like(m, 1, n), 1)
    [v, none] = signed_columns(v, zeros_like(m, 1, n))
end

function d = __device__ kernel_symeig(m)
    [v, d] = kernel_full_symeig(m)
end

% Rotates the columns of a until they are orthogonal: a*v = u*s.
function [u, s, v] = __device__ tall_svd(a)
    n = size(a,1)
    u = copy(a)
    v = identity_like(a, n)
    for sweep = 1..8
        for p = 0..n-2
            for q = p+1..n-1
                pp = 0*a[0,0]
                pq = pp
                qq = pp
                for k = 0..size(a,0)-1
                    pp += u[k,p]*u[k,p]
                    pq += u[k,p]*u[k,q]
                    qq += u[k,q]*u[k,q]
                end
                [sine, cosine] = jacobi_angle(pp, pq, qq)
                for k = 0..size(a,0)-1
                    x = u[k,p]
                    y = u[k,q]
                    u[k,p] = cosine*x - sine*y
                    u[k,q] = sine*x + cosine*y
                end
                for k = 0..n-1
                    x = v[k,p]
                    y = v[k,q]
                    v[k,p] = cosine*x - sine*y
                    v[k,q] = sine*x + cosine*y
                end
            end
        end
    end
    s = zeros_like(a, 1, n)
    for j = 0..n-1
        t = 0*a[0,0]
        for k = 0..size(a,0)-1
            t += u[k,j]*u[k,j]
        end
        s[j] = sqrt(t)
        for k = 0..size(a,0)-1
            u[k,j] = t > 0 ? u[k,j]/s[j] : 0
        end
    end
    [s, u, v] = sorted_columns(s, u, v, -1)
end

function [u, s, v] = __device__ kernel_full_svd(a)
    if size(a,0) >= size(a,1)
        [u, d, v] = tall_svd(a)
    else
        [v, d, u] = tall_svd(transpose(a))
    end
    [u, v] = signed_columns(u, v)
    s = kernel_diagm(d)
end

function s = __device__ kernel_svd(a)
    if size(a,0) >= size(a,1)
        [u, s, v] = tall_svd(a)
    else
        [u, s, v] = tall_svd(transpose(a))
    end
end

% The relative precision in which an array keeps numbers, for tolerances.
function e = __device__ precision_of(x)
    one = zeros_like(x, 1, 2)
    one[0] = 1 + 2^-40
    e = one[0] == 1 ? 2^-23 : 2^-52
end

% Singular values are computed in float64, because the tolerance is only a few units of the last digit of float32.
function y = __device__ kernel_rank(a, tolerance)
    s = kernel_svd(float64(a))
    y = int(0)
    for k = 0..numel(s)-1
        y += s[k] > tolerance ? 1 : 0
    end
end
function y = __device__ kernel_rank(a)
    s = kernel_svd(float64(a))
    limit = max(size(a,0), size(a,1))*s[0]*precision_of(a)
    y = int(0)
    for k = 0..numel(s)-1
        y += s[k] > limit ? 1 : 0
    end
end

% The sum of v*transpose(u)/s over the singular values above a limit; limit < 0: the limit of rank.
function y = __device__ pseudo_inverse(a, tolerance, given)
    if size(a,0) >= size(a,1)
        [u, s, v] = tall_svd(float64(a))
    else
        [v, s, u] = tall_svd(float64(transpose(a)))
    end
    limit = given ? tolerance : max(size(a,0), size(a,1))*s[0]*precision_of(a)
    y = zeros_like(0.5*a, size(a,1), size(a,0))
    for i = 0..size(a,1)-1
        for j = 0..size(a,0)-1
            t = 0*s[0]
            for k = 0..numel(s)-1
                t += s[k] > limit ? v[i,k]*u[j,k]/s[k] : 0
            end
            y[i,j] = t
        end
    end
end
function y = __device__ kernel_pinv(a, tolerance)
    y = pseudo_inverse(a, tolerance, true)
end
function y = __device__ kernel_pinv(a)
    y = pseudo_inverse(a, 0, false)
end

% -- eigenvalues of any matrix -------------------------------------------------------------------------------------------

% The rotation [[c,s],[-conj(s),c]], with a real c, that makes the second of two numbers zero.
function [c, s] = __device__ complex_rotation(a, b)
    r = sqrt(squared_modulus(a) + squared_modulus(b))
    m = abs(a)
    c = r > 0 ? m/r : 1 + r
    s = r > 0 ? (m > 0 ? conj(b)*(a/m)/r : conj(b)/r) : 0*a
end

% Rotates the rows i and i+1 of t, and the same columns of t and q, so that q*t*herm_transpose(q) stays.
function [] = __device__ rotate_pair(t, q, i, c, s)
    for k = 0..size(t,0)-1
        x = t[i,k]
        y = t[i+1,k]
        t[i,k] = c*x + s*y
        t[i+1,k] = c*y - conj(s)*x
    end
    for k = 0..size(t,0)-1
        x = t[k,i]
        y = t[k,i+1]
        t[k,i] = c*x + conj(s)*y
        t[k,i+1] = c*y - s*x
        x = q[k,i]
        y = q[k,i+1]
        q[k,i] = c*x + conj(s)*y
        q[k,i+1] = c*y - s*x
    end
end

% The eigenvalue of [[a,b],[c,d]] that is nearer to d.
function y = __device__ nearer_eigenvalue(a, b, c, d)
    h = (a - d)/2
    r = sqrt(h*h + b*c)
    r = real(h)*real(r) + imag(h)*imag(r) < 0 ? -r : r
    y = squared_modulus(h + r) > 0 ? d - b*c/(h + r) : d
end

% Schur's form: t is upper triangular, and a = q*t*herm_transpose(q).  QR steps with shifts make the elements below the
% diagonal negligible, from the last row on.  Every tenth step has another shift, because the usual ones may form a cycle.
% All elements are nan if the norm of a is nan or inf, or if an eigenvalue is not found in 60 steps.
function [t, q] = __device__ schur_form(a)
    n = size(a,0)
    assert(n == size(a,1), "the matrix must be square")
    t = zeros_like(complex(0.5*real(a[0,0]), 0.5*real(a[0,0])), n, n)
    q = zeros_like(t, n, n)
    for i = 0..n-1
        for j = 0..n-1
            t[i,j] = complex(real(a[i,j]), imag(a[i,j]))
            q[i,j] = i == j ? 1 : 0
        end
    end
    for k = 0..n-3
        for i = n-2..-1..k+1
            [c, s] = complex_rotation(t[i,k], t[i+1,k])
            rotate_pair(t, q, i, c, s)
        end
    end
    small = precision_of(a)*norm(t)
    flaw = small < inf ? 0*real(t[0,0]) : nan
    last = n - 1
    steps = 0
    while last > 0
        first = last
        while first > 0 && abs(t[first,first-1]) > small
            first -= 1
        end
        if first == last || steps == 60
            flaw = first == last ? flaw : nan
            last -= 1
            steps = 0
        else
            steps += 1
            d = t[last,last]
            shift = nearer_eigenvalue(t[last-1,last-1], t[last-1,last], t[last,last-1], d)
            shift = mod(steps, 10) == 0 ? d + abs(t[last,last-1]) : shift
            [c, s] = complex_rotation(t[first,first] - shift, t[first+1,first])
            rotate_pair(t, q, first, c, s)
            for i = first+1..last-1
                [c, s] = complex_rotation(t[i,i-1], t[i+1,i-1])
                rotate_pair(t, q, i, c, s)
            end
        end
    end
    [t, q] = [t + flaw, q + flaw]
end

function d = __device__ kernel_eig(a)
    [t, q] = schur_form(a)
    d = kernel_diag(t)
end

% Eigenvectors of the triangular t by substitution, divided by their largest element on the way, against overflow.
% Differences of eigenvalues are at least the last digit of the largest one.
function [v, d] = __device__ kernel_full_eig(a)
    n = size(a,0)
    [t, q] = schur_form(a)
    least = 0*real(t[0,0])
    for i = 0..n-1
        least = max(least, abs(t[i,i]))
    end
    least = least > 0 ? least*precision_of(a) : precision_of(a)
    v = zeros_like(t, n, n)
    d = zeros_like(t, 1, n)
    for k = 0..n-1
        x = zeros_like(t, n, 1)
        x[k,0] = 1
        for i = k-1..-1..0
            y = 0*t[i,k]
            for j = i+1..k
                y -= t[i,j]*x[j,0]
            end
            e = t[i,i] - t[k,k]
            x[i,0] = y/(abs(e) < least ? complex(least, 0*least) : e)
            m = abs(x[i,0])
            for j = i..(m > 1 ? k : -1)
                x[j,0] = x[j,0]/m
            end
        end
        x = q*x
        most = 0*least
        norm2 = 0*least
        turn = 0*x[0,0] + 1
        for i = 0..n-1
            m = squared_modulus(x[i,0])
            norm2 += m
            turn = m > most ? conj(x[i,0])/sqrt(m) : turn
            most = max(m, most)
        end
        for i = 0..n-1
            v[i,k] = x[i,0]*turn/sqrt(norm2)
        end
        d[k] = t[k,k]
    end
end

% The exponential of a square matrix by Padé approximants with scaling and squaring, like expm of matfun.q.
function y = __device__ kernel_expm(a)
    n = size(a,0)
    assert(n == size(a,1), "the matrix must be square")
    x = 1.0*a
    size_ = 0*real(x[0,0])
    for j = 0..n-1
        t = 0*real(x[0,0])
        for i = 0..n-1
            t += abs(x[i,j])
        end
        size_ = max(size_, t)
    end
    s = size_ > 0.5 ? int(min(ceil(log2(size_)) + 1, 1100)) : 0
    x = x/2^s
    term = identity_like(x, n)
    u = zeros_like(x, n, n)
    v = zeros_like(x, n, n)
    c = 1.0
    for k = 0..6
        v += c*(mod(k, 2) == 0 ? term : -term)
        u += c*term
        c *= (6.0 - k)/((12 - k)*(k + 1))
        term = term*x
    end
    y = solve(v, u)
    for k = 1..s
        y = y*y
    end
end

% -- order -------------------------------------------------------------------------------------------------------------

% Whether a comes before b, ascending (way 1) or descending (way -1); -x would wrap for integers.
function y = __device__ precedes(a, b, way)
    y = way > 0 ? a < b : a > b
end

% Sorts lines along dim, stable, nan last; way: 1 ascending, -1 descending.
function [y, at] = __device__ sorted(x, dim, way)
    y = copy(x)
    at = zeros_like(int(0), size(x,0), size(x,1))
    for line = 0..size(x,across(dim))-1
        for i = 0..size(x,dim)-1
            at[dim == 0 ? i : line, dim == 0 ? line : i] = i
            for j = i..-1..1
                a = dim == 0 ? y[j-1,line] : y[line,j-1]
                b = dim == 0 ? y[j,line] : y[line,j]
                if precedes(b, a, way) || (isnan(a) && !isnan(b))
                    k = dim == 0 ? at[j,line] : at[line,j]
                    l = dim == 0 ? at[j-1,line] : at[line,j-1]
                    y[dim == 0 ? j-1 : line, dim == 0 ? line : j-1] = b
                    y[dim == 0 ? j : line, dim == 0 ? line : j] = a
                    at[dim == 0 ? j-1 : line, dim == 0 ? line : j-1] = k
                    at[dim == 0 ? j : line, dim == 0 ? line : j] = l
                end
            end
        end
    end
end

function [y, at] = __device__ kernel_full_sort(x, dim = main_dim(x), how = "ascend")
    if isscalar(dim)
        [y, at] = sorted(x, dim, how == "descend" ? -1 : 1)
    else
        [y, at] = sorted(x, main_dim(x), dim == "descend" ? -1 : 1)
    end
end

function y = __device__ kernel_median(x, dim)
    n = size(x,dim)
    [s, at] = sorted(x, dim, 1)
    y = with_extent(0.5*x, dim, 1)
    for line = 0..size(x,across(dim))-1
        a = element(s, dim, line, int((n-1)/2))
        b = element(s, dim, line, int(n/2))
        last = element(s, dim, line, n-1)
        y[dim == 0 ? 0 : line, dim == 0 ? line : 0] = isnan(last) ? last : 0.5*a + 0.5*b
    end
end
function y = __device__ kernel_median(x)
    y = kernel_median(x, main_dim(x))
    y = size(x,0) == 1 ? y[0] : y
end

% -- along a dimension -------------------------------------------------------------------------------------------------

% Combines the elements along dim by f.
function y = __device__ folded(x, dim, f)
    y = with_extent(x, dim, 1)
    for line = 0..size(x,across(dim))-1
        t = element(x, dim, line, 0)
        for k = 1..size(x,dim)-1
            t = f(t, element(x, dim, line, k))
        end
        y[dim == 0 ? 0 : line, dim == 0 ? line : 0] = t
    end
end

% The same for each element with those before it.
function y = __device__ scanned(x, dim, f)
    y = uninit_like(f(x[0,0], x[0,0]), size(x,0), size(x,1))
    for line = 0..size(x,across(dim))-1
        t = element(x, dim, line, 0)
        y[dim == 0 ? 0 : line, dim == 0 ? line : 0] = t
        for k = 1..size(x,dim)-1
            t = f(t, element(x, dim, line, k))
            y[dim == 0 ? k : line, dim == 0 ? line : k] = t
        end
    end
end

function y = __device__ kernel_sum(x, dim)
    y = folded(x, dim, (a, b) -> a + b)
end
function y = __device__ kernel_prod(x, dim)
    y = folded(x, dim, (a, b) -> a.*b)
end
function y = __device__ kernel_mean(x, dim)
    y = kernel_sum(x, dim)/size(x,dim)
end
function y = __device__ kernel_min(x, none, dim)
    y = folded(x, dim, (a, b) -> min(a, b))
end
function y = __device__ kernel_max(x, none, dim)
    y = folded(x, dim, (a, b) -> max(a, b))
end
function y = __device__ kernel_any(x, dim)
    y = folded(where(x != 0, 1, 0), dim, (a, b) -> max(a, b))
end
function y = __device__ kernel_all(x, dim)
    y = folded(where(x != 0, 1, 0), dim, (a, b) -> min(a, b))
end
function y = __device__ kernel_cumsum(x, dim = main_dim(x))
    y = scanned(x, dim, (a, b) -> a + b)
end
function y = __device__ kernel_cumprod(x, dim = main_dim(x))
    y = scanned(x, dim, (a, b) -> a.*b)
end

function y = __device__ kernel_diff(x, dim = main_dim(x))
    y = with_extent(x, dim, size(x,dim)-1)
    for i = 0..size(y,0)-1
        for j = 0..size(y,1)-1
            y[i,j] = (dim == 0 ? x[i+1,j] : x[i,j+1]) - x[i,j]
        end
    end
end

function y = __device__ squared_modulus(z)
    y = real(z)*real(z) + imag(z)*imag(z)
end

% Squared distances from the mean along dim, over n - ddof, or over 1 if that is not positive.
function y = __device__ kernel_var(x, dim, ddof = 1)
    n = size(x,dim)
    m = kernel_mean(x, dim)
    y = zeros_like(0.5*real(m[0,0]), size(m,0), size(m,1))
    for line = 0..size(x,across(dim))-1
        t = 0*real(m[0,0])
        for k = 0..n-1
            t += squared_modulus(element(x, dim, line, k) - element(m, dim, line, 0))
        end
        y[dim == 0 ? 0 : line, dim == 0 ? line : 0] = t/(n > ddof ? n - ddof : 1)
    end
end
function y = __device__ kernel_var(x)
    v = kernel_var(reshape(x, [1,numel(x)]), 1, 1)
    y = v[0]
end
function y = __device__ kernel_std(x, dim, ddof = 1)
    y = sqrt(kernel_var(x, dim, ddof))
end
function y = __device__ kernel_std(x)
    y = sqrt(kernel_var(x))
end

% The smallest or largest elements (way 1, -1) along dim and their indices.
function [y, at] = __device__ extremes(x, dim, way)
    y = with_extent(x, dim, 1)
    at = zeros_like(int(0), size(y,0), size(y,1))
    for line = 0..size(x,across(dim))-1
        t = element(x, dim, line, 0)
        best = int(0)
        for k = 1..size(x,dim)-1
            e = element(x, dim, line, k)
            if precedes(e, t, way) || (isnan(t) && !isnan(e))
                t = e
                best = k
            end
        end
        y[dim == 0 ? 0 : line, dim == 0 ? line : 0] = t
        at[dim == 0 ? 0 : line, dim == 0 ? line : 0] = best
    end
end
% The same of all elements; the index is linear.
function [y, at] = __device__ extreme(x, way)
    [values, indices] = extremes(reshape(x, [1,numel(x)]), 1, way)
    y = values[0]
    at = indices[0]
end
function [y, at] = __device__ kernel_full_min(x)
    [y, at] = extreme(x, 1)
end
function [y, at] = __device__ kernel_full_max(x)
    [y, at] = extreme(x, -1)
end
function [y, at] = __device__ kernel_full_min(x, none, dim)
    assert(numel(none) == 0, "min: with a dimension the second argument must be []")
    [y, at] = extremes(x, dim, 1)
end
function [y, at] = __device__ kernel_full_max(x, none, dim)
    assert(numel(none) == 0, "max: with a dimension the second argument must be []")
    [y, at] = extremes(x, dim, -1)
end
function at = __device__ kernel_argmin(x, dim)
    [none, at] = extremes(x, dim, 1)
end
function at = __device__ kernel_argmax(x, dim)
    [none, at] = extremes(x, dim, -1)
end

% The largest (way -1) or smallest (way 1) element so far along dim, and its index; nan does not count.
function [y, at] = __device__ running_extremes(x, dim, way)
    y = copy(x)
    at = zeros_like(int(0), size(x,0), size(x,1))
    for line = 0..size(x,across(dim))-1
        t = element(x, dim, line, 0)
        best = int(0)
        for k = 1..size(x,dim)-1
            e = element(x, dim, line, k)
            if precedes(e, t, way) || (isnan(t) && !isnan(e))
                t = e
                best = k
            end
            y[dim == 0 ? k : line, dim == 0 ? line : k] = t
            at[dim == 0 ? k : line, dim == 0 ? line : k] = best
        end
    end
end
function [y, at] = __device__ kernel_full_cummax(x, dim = main_dim(x))
    [y, at] = running_extremes(x, dim, -1)
end
function [y, at] = __device__ kernel_full_cummin(x, dim = main_dim(x))
    [y, at] = running_extremes(x, dim, 1)
end

function y = __device__ kernel_rms(x, dim)
    y = sqrt(kernel_mean(abs(x).^2, dim))
end
function y = __device__ kernel_rms(x)
    y = sqrt(mean(abs(x).^2))
end

% The largest element of a line along dim, and the sum of exp(x - largest).
function [most, t] = __device__ exponentials(x, dim, line)
    most = element(x, dim, line, 0)
    for k = 1..size(x,dim)-1
        most = max(most, element(x, dim, line, k))
    end
    t = 0.0*most
    for k = 0..size(x,dim)-1
        t += exp(element(x, dim, line, k) - most)
    end
end
function y = __device__ kernel_log_softmax(x, dim = 1)
    y = uninit_like(0.5*x, size(x,0), size(x,1))
    along = dim == -1 ? 1 : dim
    for line = 0..size(x,across(along))-1
        [most, t] = exponentials(x, along, line)
        for k = 0..size(x,along)-1
            y[along == 0 ? k : line, along == 0 ? line : k] = element(x, along, line, k) - most - log(t)
        end
    end
end
function y = __device__ kernel_softmax(x, dim = 1)
    y = uninit_like(0.5*x, size(x,0), size(x,1))
    along = dim == -1 ? 1 : dim
    for line = 0..size(x,across(along))-1
        [most, t] = exponentials(x, along, line)
        for k = 0..size(x,along)-1
            y[along == 0 ? k : line, along == 0 ? line : k] = exp(element(x, along, line, k) - most)/t
        end
    end
end

% -- moving elements ---------------------------------------------------------------------------------------------------

function y = __device__ kernel_flip(x, dim = main_dim(x))
    y = copy(x)
    n = size(x,dim)
    for line = 0..size(x,across(dim))-1
        for k = 0..n-1
            y[dim == 0 ? k : line, dim == 0 ? line : k] = element(x, dim, line, n-1-k)
        end
    end
end
function y = __device__ kernel_fliplr(x)
    y = kernel_flip(x, 1)
end
function y = __device__ kernel_flipud(x)
    y = kernel_flip(x, 0)
end

% The arrays a and b, one after the other along dim.
function y = __device__ joined(a, b, dim)
    m = size(a,dim)
    y = with_extent(a + b[0,0], dim, m + size(b,dim))
    for line = 0..size(a,across(dim))-1
        for k = 0..m-1
            y[dim == 0 ? k : line, dim == 0 ? line : k] = element(a, dim, line, k)
        end
        for k = 0..size(b,dim)-1
            y[dim == 0 ? m+k : line, dim == 0 ? line : m+k] = element(b, dim, line, k)
        end
    end
end

function y = __device__ kernel_vertcat(a, b)
    assert(size(a,1) == size(b,1), "vertcat: the matrices must have as many columns")
    y = joined(a, b, 0)
end
function y = __device__ kernel_vertcat(a, b, c)
    y = kernel_vertcat(kernel_vertcat(a, b), c)
end
function y = __device__ kernel_vertcat(a, b, c, d)
    y = kernel_vertcat(kernel_vertcat(a, b, c), d)
end
function y = __device__ kernel_horzcat(a, b)
    assert(size(a,0) == size(b,0), "horzcat: the matrices must have as many rows")
    y = joined(a, b, 1)
end
function y = __device__ kernel_horzcat(a, b, c)
    y = kernel_horzcat(kernel_horzcat(a, b), c)
end
function y = __device__ kernel_horzcat(a, b, c, d)
    y = kernel_horzcat(kernel_horzcat(a, b, c), d)
end

function y = __device__ kernel_diagm(x)
    n = numel(x)
    v = reshape(x, [1,n])
    y = zeros_like(x, n, n)
    for i = 0..n-1
        y[i,i] = v[i]
    end
end
function y = __device__ kernel_diag(x)
    if size(x,0) == 1 || size(x,1) == 1
        y = kernel_diagm(x)
    else
        y = uninit_like(x, 1, min(size(x,0), size(x,1)))
        for i = 0..numel(y)-1
            y[i] = x[i,i]
        end
    end
end

function y = __device__ kernel_repmat(x, r, c)
    y = uninit_like(x, r*size(x,0), c*size(x,1))
    for i = 0..size(y,0)-1
        for j = 0..size(y,1)-1
            y[i,j] = x[mod(i,size(x,0)),mod(j,size(x,1))]
        end
    end
end
function y = __device__ kernel_repmat(x, n)
    if isscalar(n)
        y = kernel_repmat(x, 1, n)
    else
        y = kernel_repmat(x, n[0], n[1])
    end
end

function y = __device__ kernel_squeeze(x)
    s = size(x,0..2)
    if s[0] > 1 && s[1] > 1
        y = copy(x)
    elseif s[0] > 1 && s[2] > 1
        y = reshape(x, [s[0],s[2]])
    elseif s[1] > 1 && s[2] > 1
        y = reshape(x, [s[1],s[2]])
    else
        y = reshape(x, [1,numel(x)])
    end
end

function y = __device__ kernel_permute(x, order)
    if numel(order) == 2
        y = order[0] == 0 ? copy(x) : transpose(x)
    else
        y = uninit_like(x, size(x,order[0]), size(x,order[1]), size(x,order[2]))
        for i = 0..size(y,0)-1
            for j = 0..size(y,1)-1
                for k = 0..size(y,2)-1
                    p = [i,j,k]
                    p[order[0]] = i
                    p[order[1]] = j
                    p[order[2]] = k
                    y[i,j,k] = x[p[0],p[1],p[2]]
                end
            end
        end
    end
end

function y = __device__ kernel_circshift(x, n, dim)
    y = copy(x)
    for line = 0..size(x,across(dim))-1
        for k = 0..size(x,dim)-1
            y[dim == 0 ? k : line, dim == 0 ? line : k] = element(x, dim, line, mod(k-n, size(x,dim)))
        end
    end
end
function y = __device__ kernel_circshift(x, n)
    if numel(n) == 1
        y = kernel_circshift(x, n, main_dim(x))
    else
        y = kernel_circshift(kernel_circshift(x, n[0], 0), n[1], 1)
    end
end

function y = __device__ kernel_tril(x, k = 0)
    y = copy(x)
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            y[i,j] = j - i <= k ? x[i,j] : 0
        end
    end
end
function y = __device__ kernel_triu(x, k = 0)
    y = copy(x)
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            y[i,j] = j - i >= k ? x[i,j] : 0
        end
    end
end

% A matrix turned by k quarters of a turn, counter-clockwise; k must be a constant where the matrix is not square.
function y = __device__ kernel_rot90(x, k = 1)
    match mod(k, 4) with
    | 0 -> y = copy(x)
    | 1 -> y = flipud(transpose(x))
    | 2 -> y = flipud(fliplr(x))
    | _ -> y = fliplr(transpose(x))
    end
end

function y = __device__ kernel_polyval(p, x)
    y = 0*x + p[0]
    for k = 1..numel(p)-1
        y = y.*x + p[k]
    end
end

% -- vecs as signals and samples ----------------------------------------------------------------------------------------

function y = __device__ kernel_conv(a, b, shape = "full")
    n = numel(a)
    m = numel(b)
    first = shape == "valid" ? m-1 : shape == "same" ? int(m/2) : 0
    y = uninit_like(a[0]*b[0], 1, shape == "valid" ? max(n-m+1, 0) : shape == "same" ? n : n+m-1)
    for k = 0..numel(y)-1
        t = 0*a[0]*b[0]
        for i = max(0, k+first-m+1)..min(n-1, k+first)
            t += a[i]*b[k+first-i]
        end
        y[k] = t
    end
end

function s = __device__ kernel_trapz(x, y)
    s = 0*y[0]
    for k = 1..numel(y)-1
        s += (x[k] - x[k-1])*(y[k] + y[k-1])/2
    end
end
function s = __device__ kernel_trapz(y)
    s = 0*y[0]
    for k = 1..numel(y)-1
        s += (y[k] + y[k-1])/2
    end
end

% Linear; outside of x nan.
function r = __device__ kernel_interp1(x, y, at)
    n = numel(x)
    r = 0*at + 0*y[0]
    for j = 0..numel(at)-1
        t = numel(at) == 1 ? at : at[j]
        k = 0
        while k < n-2 && t >= x[k+1]
            k += 1
        end
        v = t >= x[0] && t <= x[n-1] ? y[k] + (t - x[k])/(x[k+1] - x[k])*(y[k+1] - y[k]) : 0*y[0] + nan
        if numel(at) == 1
            r = v
        else
            r[j] = v
        end
    end
end

function y = __device__ kernel_mode(x)
    best = 0
    y = x[0]
    for i = 0..numel(x)-1
        n = 0
        for j = 0..numel(x)-1
            n += x[j] == x[i] ? 1 : 0
        end
        if n > best || n == best && x[i] < y
            best = n
            y = x[i]
        end
    end
end

function y = __device__ kernel_cat(dim, a, b)
    y = dim == 0 ? vertcat(a, b) : horzcat(a, b)
end
function y = __device__ kernel_cat(dim, a, b, c)
    y = kernel_cat(dim, kernel_cat(dim, a, b), c)
end

function y = __device__ kernel_isequal(a, b)
    if size(a,0) != size(b,0) || size(a,1) != size(b,1)
        y = false
    else
        y = all(a == b)
    end
end

function y = __device__ kernel_cond(a)
    s = kernel_svd(a)
    y = s[0]/s[numel(s)-1]
end

% -- integers ----------------------------------------------------------------------------------------------------------

function [] = __device__ check_integer(x)
    if !isint(x)
        assert(x == floor(x) && abs(x) < 2^53, "gcd, lcm: arguments must be integers below 2^53 in magnitude")
    end
end
function g = __device__ kernel_gcd(a, b)
    check_integer(a)
    check_integer(b)
    g = abs(a + 0*b)
    r = abs(b + 0*a)
    while r > 0
        t = mod(g, r)
        g = r
        r = t
    end
end

% The product of b and a/g in integers of 64 bits.  A quotient in float64, made a little too small, lacks digits, which the
% quotient of the rest adds.
function m = __device__ integer_lcm(a, b, g, type_)
    q = type_(float64(a)/float64(g)*(1 - 2^-50))
    m = (q + type_(round(float64(a - q*g)/float64(g))))*b
end
function m = __device__ kernel_lcm(a, b)
    g = max(kernel_gcd(a, b), 1)
    if isint(g + int64(0))
        m = integer_lcm(abs(int64(a)), abs(int64(b)), int64(g), int64)
    elseif isint(g)                                        % uint64
        m = integer_lcm(a, b, g, uint64)
    else
        m = float64(abs(a))/float64(g)*abs(b)
    end
end
