% Module: sparse.q
% Sparse matrices of float64 in compressed rows, and iterative solvers of linear equations.
import "check.q"

% start[i] … start[i+1]-1 are the entries of row i; columns ascend in each row.
type sparse_matrix : mutable class
    rows : int
    columns : int
    start : vec[int]
    column : vec[int]
    value : vec[float64]
end

% Function: sparse
% A sparse matrix: of a matrix, or with the entries v[k] at row i[k] and column j[k], added where a position is repeated.
% Entries that are 0 are left out.
%
% Parameters:
% i, j - positions from 0
% v - as many numbers, or one for all
% m, n - the size; null is as large as the positions need
%
% Returns:
% S - an object with the fields rows, columns, start, column, value (compressed rows)
%
% See also: <spmul>, <full>, <cg>
function S = sparse(i, j = null, v = null, m = null, n = null)
    if isnull(j)
        assert(ismat(i) && check_real(i), "sparse: A must be a real matrix, got ", type(i))
        [r, c, x] = find(i)
        S = sparse(reshape(r, [1,numel(r)]), reshape(c, [1,numel(c)]), reshape(float64(x), [1,numel(x)]), size(i,0), size(i,1))
        return
    endif
    count = numel(i)
    assert(numel(j) == count && (numel(v) == count || numel(v) == 1), _
           "sparse: i, j and v must have as many elements, got ", count, ", ", numel(j), " and ", numel(v))
    assert(check_real(i) && check_real(j) && check_real(v), "sparse: i, j and v must be real numbers, got ", _
           type(i), ", ", type(j), " and ", type(v))
    r = float64(reshape(isscalar(i) ? [i] : i, [1,count]))
    c = float64(reshape(isscalar(j) ? [j] : j, [1,count]))
    x = zeros_like(float64([0]), count) + (isscalar(v) ? v : float64(reshape(v, [1,numel(v)])))
    rows = isnull(m) ? (count > 0 ? max(r)+1 : 0) : m
    columns = isnull(n) ? (count > 0 ? max(c)+1 : 0) : n
    sparse_check_positions("i", r, rows)
    sparse_check_positions("j", c, columns)
    assert(rows < 2^31 && columns < 2^31 && rows*columns <= 2^53, _
           "sparse: m and n must be less than 2^31, and their product at most 2^53, got ", [rows,columns])
    S = sparse_matrix(rows:=int(rows), columns:=int(columns))
    if count == 0
        S.start = vec[int](rows+1)
        return
    endif
    [key, _, which] = unique(r*columns + c)
    x = bincount(which, numel(key), x)
    keep = x != 0
    key = key[keep]
    r = floor(key/columns)
    S.value = x[keep]
    S.column = int(key - r*columns)
    counts = numel(key) > 0 ? bincount(r, rows) : zeros_like(float64([0]), rows)
    S.start = int(horzcat(float64([0]), cumsum(counts)))
end

function [] = sparse_check_positions(name, at, count)
    range = count > 0 ? sprintf("from 0 to %d", count-1) : "of at least 0"
    check_each(strcat("sparse: ", name, " must be integers ", range), at, at >= 0 && at < count && at == floor(at))
end

% Function: speye
% The sparse identity matrix of n rows.
function S = speye(n : int)
    check_whole("speye: n", n, 1)
    S = sparse(0..n-1, 0..n-1, 1, n, n)
end

% Function: spdiags
% The sparse matrix with the columns of B on the diagonals d (0 is the main one, positive ones are above): B[j,k] is in
% column j of the matrix, as in MATLAB and scipy.sparse.
function S = spdiags(B : mat, d, m : int, n : int)
    lines = isscalar(d) ? [d] : d
    b = size(B,1) == numel(lines) ? B : transpose(B)
    assert(size(b,1) == numel(lines), "spdiags: B must have a column for each diagonal, ", numel(lines), ", got size ", size(B))
    i = float64([])
    j = float64([])
    v = float64([])
    for k = 0..numel(lines)-1
        first = max(0, lines[k])
        last = min(n-1, m-1+lines[k])
        if last >= first
            assert(size(b,0) > last, "spdiags: the columns of B must have at least ", last+1, " elements, got ", size(b,0))
            c = float64(first..last)
            i = horzcat(i, c - lines[k])
            j = horzcat(j, c)
            v = horzcat(v, reshape(float64(b[first..last,k]), [1,last-first+1]))
        endif
    end
    S = sparse(i, j, v, m, n)
end

% Function: full, nnz
% A sparse matrix as a mat[float64]; the number of entries of a sparse matrix, or of elements other than 0 of an array.
function A = full(S : sparse_matrix)
    A = mat[float64](S.rows, S.columns)
    [r, c, v] = sparse_entries(S)
    if numel(v) > 0
        A = reshape(bincount(r*S.columns + c, S.rows*S.columns, v), [S.rows,S.columns])
    endif
end

function n = nnz(S)
    n = isobject(S) ? numel(S.value) : sum(S != 0)
end

function [r, c, v] = sparse_entries(S : sparse_matrix)
    r = zeros_like(float64([0]), numel(S.value))
    sparse_rows(r, S.start)
    c = float64(S.column)
    v = S.value
end

function [] = sparse_rows(r, start)
    for i = 0..numel(start)-2
        for k = start[i]..start[i+1]-1
            r[k] = i
        end
    end
end

function [] = __kernel__ sparse_product(y : mat'unchecked, start : vec[int]'unchecked, column : vec[int]'unchecked, _
                                        value : vec[float64]'unchecked, x : mat'unchecked, pos : ivec2)
    s = 0.0
    for k = start[pos[0]]..start[pos[0]+1]-1
        s += value[k]*x[column[k],pos[1]]
    end
    y[pos] = s
end

% Function: spmul
% The product of a sparse matrix and a vector (a vec or a column) or a matrix; x has a derivative.
function y = spmul(S : sparse_matrix, x)
    flat = isvec(x) && size(x,0) == 1 && S.columns != 1
    c = float64(flat ? transpose(x) : isscalar(x) ? [x] : x)
    assert(size(c,0) == S.columns, "spmul: x must have ", S.columns, " rows, got size ", size(x))
    y = mat[float64](S.rows, size(c,1))
    if numel(S.value) > 0
        parallel_do(size(y), y, S.start, S.column, S.value, c, sparse_product)
    endif
    if flat
        y = transpose(y)
    endif
end

% Function: sptranspose, spadd, spscale
% The transpose of a sparse matrix, the sum of two, and a sparse matrix times a number.
function T = sptranspose(S : sparse_matrix)
    [r, c, v] = sparse_entries(S)
    T = sparse(c, r, v, S.columns, S.rows)
end

function T = spadd(S : sparse_matrix, R : sparse_matrix)
    assert(S.rows == R.rows && S.columns == R.columns, "spadd: S and R must have one size, got ", [S.rows,S.columns], " and ", _
           [R.rows,R.columns])
    [r, c, v] = sparse_entries(S)
    [r2, c2, v2] = sparse_entries(R)
    T = sparse(horzcat(r, r2), horzcat(c, c2), horzcat(v, v2), S.rows, S.columns)
end

function T = spscale(S : sparse_matrix, factor : scalar)
    [r, c, v] = sparse_entries(S)
    T = sparse(r, c, factor*v, S.rows, S.columns)
end

% A as a function of columns: a sparse matrix, a matrix or a function itself. `what` names the solver and the argument.
function f = sparse_operator(what, A, n)
    if isnull(A)
        f = x -> x
    elseif isfunction(A)
        f = x -> solver_column(strcat(what, "(x)"), A(x), n)
    elseif is_given_function(A)
        f = x -> solver_column(strcat(what, "(x)"), value_of(A(float64_vec(x))), n)
    elseif isobject(A)
        assert(A.rows == n && A.columns == n, what, " must have size ", [n,n], ", got ", [A.rows,A.columns])
        check_finite(what, A.value)
        f = x -> spmul(A, x)
    else
        assert(size(A,0) == n && size(A,1) == n, what, " must have size ", [n,n], ", got ", size(A))
        check_finite(what, A)
        D = float64(A)
        f = x -> D*x
    endif
end

function y = solver_column(what, y, n)
    check_finite(what, y)
    assert(numel(y) == n, what, " must have ", n, " elements, got size ", size(y))
    y = reshape(y, [n,1])
end

% Checks the arguments of a solver. Returns b as a column, where x begins, A and M as functions, the largest number of steps
% and the norm of b.
function [column, x, apply, near, most, size_] = solver_start(what, A, b, M, x0, tol, maxit)
    assert(check_real(b) && numel(b) > 0, what, ": b must be a real vector, got ", check_got(b))
    check_finite(strcat(what, ": b"), b)
    assert(tol > 0, what, ": tol must be greater than 0, got ", tol)
    column = reshape(float64(isscalar(b) ? [b] : b), [numel(b),1])
    x = zeros_like(column)
    if !isnull(x0)
        assert(numel(x0) == numel(b), what, ": x0 must have as many elements as b, ", numel(b), ", got ", numel(x0))
        check_finite(strcat(what, ": x0"), x0)
        x[:,:] = norm(column) > 0 ? reshape(x0, [numel(b),1]) : 0
    endif
    n = numel(column)
    apply = sparse_operator(strcat(what, ": A"), A, n)
    near = sparse_operator(strcat(what, ": M"), M, n)
    most = isnull(maxit) ? 10*n : maxit
    size_ = norm(column)
end

% x in the shape of b.
function y = solver_result(x, b)
    y = isscalar(b) ? x[0,0] : reshape(x, size(b))
end

% Function: cg, pcg
% The x with A*x = b by conjugate gradients, for a symmetric positive definite A.
% Source: Hestenes, Stiefel: Methods of conjugate gradients for solving linear systems (1952).
%
% Parameters:
% A - a sparse matrix, a mat, or a function of a column that gives A*x; a function of Python gets x with one dimension
% b - the right side
% tol - it ends when norm(b - A*x) <= tol*norm(b)
% maxit - the largest number of steps; null is 10 per element
% M - of the preconditioner: a function (or matrix) that is nearly the inverse of A; null is none
% x0 - where it begins; null is zeros
%
% Returns:
% x - the solution, in the shape of b
% flag - 0, or 1 where the tolerance was not reached
% relres - norm(b - A*x)/norm(b)
% steps - the number of steps
function [x, flag, relres, steps] = cg(A, b, tol : scalar = 1e-6, maxit = null, M = null, x0 = null)
    [c, x, apply, near, most, size_] = solver_start("cg", A, b, M, x0, tol, maxit)
    r = c - apply(x)
    z = near(r)
    p = z
    rz = dotprod(r, z)
    steps = 0
    while norm(r) > tol*size_ && steps < most
        q = apply(p)
        curve = dotprod(p, q)
        assert(curve > 0, "cg: A must be symmetric positive definite, got ", curve, " for the curvature")
        alpha = rz/curve
        x = x + alpha*p
        r = r - alpha*q
        z = near(r)
        next = dotprod(r, z)
        p = z + (next/rz)*p
        rz = next
        steps += 1
    end
    relres = size_ > 0 ? norm(r)/size_ : 0
    flag = norm(r) <= tol*size_ ? 0 : 1
    x = solver_result(x, b)
end

function [x, flag, relres, steps] = pcg(A, b, tol : scalar = 1e-6, maxit = null, M = null, x0 = null)
    [x, flag, relres, steps] = cg(A, b, tol, maxit, M, x0)
end

% Function: bicgstab
% The x with A*x = b for any square A by stabilised biconjugate gradients; arguments and results as for cg, but
% flag is 4 where a number became 0 or too large to go on, as in MATLAB; x is then the last approximation. gmres may help.
% Source: van der Vorst: Bi-CGSTAB (1992).
function [x, flag, relres, steps] = bicgstab(A, b, tol : scalar = 1e-6, maxit = null, M = null, x0 = null)
    [c, x, apply, near, most, size_] = solver_start("bicgstab", A, b, M, x0, tol, maxit)
    r = c - apply(x)
    shadow = r
    rho = 1
    alpha = 1
    omega = 1
    v = zeros_like(r)
    p = zeros_like(r)
    steps = 0
    broken = false
    going = norm(r) > tol*size_ && most > 0
    while going
        next = dotprod(shadow, r)
        if abs(next) < 1e-300
            broken = true
            going = false
        else
            p = r + (next/rho*alpha/omega)*(p - omega*v)
            rho = next
            y = near(p)
            v = apply(y)
            alpha = rho/dotprod(shadow, v)
            broken = !isfinite(alpha)
            going = !broken
        endif
        if going
            s = r - alpha*v
            x = x + alpha*y
            r = s
            steps += 1
            going = norm(s) > tol*size_
        endif
        if going
            z = near(s)
            t = apply(z)
            omega = dotprod(t, s)/dotprod(t, t)
            broken = !isfinite(omega) || omega == 0
            going = !broken
        endif
        if going
            x = x + omega*z
            r = s - omega*t
            going = norm(r) > tol*size_ && steps < most
        endif
    end
    relres = size_ > 0 ? norm(c - apply(x))/size_ : 0
    flag = relres <= tol*1.01 ? 0 : broken ? 4 : 1
    x = solver_result(x, b)
end

% Function: gmres
% Solves A*x = b for any square A by minimal residuals in Krylov spaces of `restart` dimensions. Other arguments and
% results are as for cg; steps counts the steps of all rounds. Source: Saad, Schultz: GMRES (1986).
function [x, flag, relres, steps] = gmres(A, b, restart = null, tol : scalar = 1e-6, maxit = null, M = null, x0 = null)
    [c, x, apply, near, most, size_] = solver_start("gmres", A, b, M, x0, tol, maxit)
    n = numel(c)
    width = min(isnull(restart) ? 20 : restart, n)
    check_whole("gmres: restart", width, 1)
    r = c - apply(x)
    steps = 0
    going = norm(r) > tol*size_ && most > 0
    while going
        beta = norm(r)
        V = mat[float64](n, width+1)
        H = mat[float64](width+1, width)
        V[:,0] = r/beta
        g = zeros_like(r, width+1)
        g[0] = beta
        cosine = zeros_like(g)
        sine = zeros_like(g)
        k = 0
        inner = true
        while inner
            w = apply(near(V[:,k]))
            for twice = 0..1        % orthogonal to rounding
                h = transpose(V[:,0..k])*w
                w = w - V[:,0..k]*h
                H[0..k,k] = H[0..k,k] + h
            end
            length_ = norm(w)
            if length_ > 0
                V[:,k+1] = w/length_
            endif
            for i = 0..k-1
                a = H[i,k]
                e = H[i+1,k]
                H[i,k] = cosine[i]*a + sine[i]*e
                H[i+1,k] = cosine[i]*e - sine[i]*a
            end
            d = hypot(H[k,k], length_)
            assert(d > 0, "gmres: A is singular")
            cosine[k] = H[k,k]/d
            sine[k] = length_/d
            H[k,k] = d
            g[k+1] = -sine[k]*g[k]
            g[k] = cosine[k]*g[k]
            steps += 1
            k += 1
            inner = k < width && abs(g[k]) > tol*size_ && length_ > 0 && steps < most
        end
        y = solve(H[0..k-1,0..k-1], transpose(g[0..k-1]))
        x = x + near(V[:,0..k-1]*y)
        r = c - apply(x)
        going = norm(r) > tol*size_ && steps < most
    end
    relres = size_ > 0 ? norm(r)/size_ : 0
    flag = norm(r) <= tol*size_ ? 0 : 1
    x = solver_result(x, b)
end
