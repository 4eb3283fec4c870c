% adjoints.q -- the derivatives of the built-ins; vm/tape/rule.c calls these functions when a derivative is computed.
%
% A rule gets the arguments of the built-in in order (null: omitted), its results (null: not requested), and the
% adjoints of the results.  It returns the adjoints of the arguments: null for none, or a text that explains why there
% is no derivative with respect to an argument.  Arguments and results that it does not need (see builtins.def) are
% zeros of the same shape.  A rule need not sum over broadcast dimensions: `fit` does that once.  A rule with an
% additional parameter, `wanted`, is passed which adjoints are needed; the others may be null.
%
% A rule uses ordinary operations, because higher derivatives differentiate through it, and does not write to its
% arguments.  Complex numbers: the adjoint of z is dL/dRe(z) + 1j*dL/dIm(z), as in torch, so that of a factor of a
% product contains the conjugate of the other factor.

import "windows.q"

% -- shapes ------------------------------------------------------------------------------------------------------------

function y = is_one_number(x)
    t = type(x)
    y = t == "scalar" || t == "cscalar" || t == "int"
end

% Converts an adjoint to the shape and type of its value; `like`: zeros of that shape and type.
function v = fit(v, like)
    if iscomplex(v) && !iscomplex(like)
        v = real(v)
    end
    if is_one_number(like)
        if !is_one_number(v)
            v = sum(v)
        end
    else
        for d = 0..ndims(v)-1
            if size(v,d) != 1 && size(like,d) == 1
                v = sum(v, d)
            end
        end
        if type(v) != type(like) || !isequal(size(v), size(like))
            v = cast_like(v + like, like)
        end
    end
end

function n = main_dim(x)
    n = 0
    while n < ndims(x)-1 && size(x,n) == 1
        n += 1
    end
end

function d = given_dim(x, dim)
    d = isnull(dim) || numel(dim) == 0 ? main_dim(x) : dim
end

function y = as_row(x)
    y = reshape(x, [1,numel(x)])
end

% Convert the lines of x along a dimension to the columns of a matrix, and back.
function y = lines_of(x, dim)
    [before, n, after] = around(x, dim)
    y = reshape(swapped(x, before, n, after), [n,before*after])
end

% Reshapes lines y, n numbers each, to an array like `like` with n elements along dim.
function x = from_lines(y, like, dim)
    [before, n, after] = around(like, dim)
    n = before*after > 0 ? numel(y)/(before*after) : size(y,0)
    s = ones(1, max(ndims(like), dim+1))
    s[0..ndims(like)-1] = size(like)
    s[dim] = n
    x = reshape(swapped(y, n, before, after), s)
end

% Returns the number of elements of the dimensions before dim, of dim itself, and of those after it.
function [before, n, after] = around(x, dim)
    s = float64(size(x))
    before = prod(s[0..min(dim,numel(s))-1])
    n = size(x, dim)
    after = dim+1 < numel(s) ? prod(s[dim+1..numel(s)-1]) : 1
end

% Reorders elements from a x b x c to b x a x c.  (An array does not keep trailing extents of 1.)
function y = swapped(x, a, b, c)
    if a == 1 || b == 1
        y = x
    else
        y = c == 1 ? transpose(reshape(x, [a,b])) : permute(reshape(x, [a,b,c]), [1,0,2])
    end
end

function y = without(list, dim)
    y = list[list != dim]
end

% Returns the positions from..to along a dimension.
function y = part(x, dim, from, to)
    s = ones(1, max(ndims(x), dim+1))
    s[0..ndims(x)-1] = size(x)
    s[dim] = to-from+1
    [before, n, after] = around(x, dim)
    y = reshape(reshape(x, [before,n,after])[:,from..to,:], s)
end

% Converts x to the common float type: operands of a variable may be integers, which wrap, or float32.
function x = beside(x, y)
    own = zeros_like(x, 1)
    t = iscomplex(x) ? own + zeros_like(y, 1) : float(own) + real(zeros_like(y, 1))
    if !is_one_number(x) && type(own) != type(t)
        x = cast_like(x, t)
    end
end

function y = safe_divide(a, b)
    y = is_one_number(b) ? (b == 0 ? 0 : a/b) : where(b == 0, 0, a./where(b == 0, 1, b))
end

% -- operators: derivatives of elementwise operators are in elem.def ---------------------------------------------------

function [dc, da, db] = where_adjoint(c, a, b, y, dy)
    dc = null
    da = where(c, dy, 0)
    db = where(c, 0, dy)
end

% -- indexing, lists ---------------------------------------------------------------------------------------------------

% Adds dy at the positions p, which count from 1 in the array; 0 means none.
function dx = scatter_adjoint(like, p, dy)
    n = numel(like)
    if iscomplex(dy)
        re = bincount(as_row(p), n+1, as_row(real(dy)))
        im = bincount(as_row(p), n+1, as_row(imag(dy)))
        all = complex(re, im)
    else
        all = bincount(as_row(p), n+1, as_row(dy))
    end
    dx = reshape(all[1..n], size(like))
end

% The adjoint of written values: the adjoints at their positions, unless something else was written there later.
function dv = written_adjoint(like, got, p, dy)
    if !isnull(p)
        order = float64(1..numel(p))
        last = zeros_like(order, numel(dy)+1)
        last[int(as_row(p))] = order
        wins = last[int(as_row(p))] == order && as_row(p) != 0
        got = where(wins, as_row(got), 0)
    end
    dv = numel(like) == 1 ? sum(got) : reshape(got, size(like))
end

masked_adjoint = (like, mask, none, dy) -> reshape(where(mask, dy, 0), size(like))

function d = literal_adjoint(items, y, dy)
    n = numel(items)
    each = numel(dy)/n
    row = as_row(dy)
    d = cell(n)
    for i = 0..n-1
        x = items[i]
        d[i] = is_one_number(x) ? row[i] : reshape(row[i*each..i*each+each-1], size(x))
    end
end

range_adjoint = (items, y, dy) -> {sum(dy), null}
steps_adjoint = (items, y, dy) -> {sum(dy), sum(dy.*float64(0..numel(dy)-1)), null}
cast_like_adjoint = (x, like, y, dy) -> dy
conversion_adjoint = (x, y, dy) -> dy

function [dre, dim] = complex_adjoint(re, im, y, dy)
    dre = real(dy)
    dim = imag(dy)
end

function [da, db] = linspace_adjoint(a, b, n, y, dy)
    t = linspace(float64([0]), 1, numel(dy))
    da = sum(dy.*(1-t))
    db = sum(dy.*t)
end

% Sums the cotangent of a grid over all its dimensions but one.
function dx = along_grid(xs, dG, dim)
    for k = 0..2
        if k != dim
            dG = sum(dG, k)
        end
    end
    dx = reshape(dG, size(xs))
end

function [dx, dy, dz] = meshgrid_adjoint(xs, ys, zs, X, Y, Z, dX, dY, dZ)
    dx = isnull(dX) ? zeros_like(xs) : along_grid(xs, dX, 1)
    dy = null
    dz = null
    if !isnull(dY)
        dy = along_grid(isnull(ys) ? xs : ys, dY, 0)
    end
    if !isnull(dZ)
        dz = along_grid(isnull(zs) ? xs : zs, dZ, 2)
    end
    if isnull(ys) && !isnull(dy)
        dx = dx + dy
        dy = null
    end
    if isnull(zs) && !isnull(dz)
        dx = dx + dz
        dz = null
    end
end

% -- shape -------------------------------------------------------------------------------------------------------------

function d = reshape_adjoint(items, y, dy)
    d = cell(numel(items))
    d[0] = reshape_one_adjoint(items[0], y, dy)
end

function dx = reshape_one_adjoint(x, y, dy)
    dx = is_one_number(x) ? sum(dy) : reshape(dy, size(x))
end

transpose_adjoint = (x, y, dy) -> transpose(dy)
herm_transpose_adjoint = (x, y, dy) -> herm_transpose(dy)

function dx = permute_adjoint(x, order, y, dy)
    [sorted, back] = sort(order)
    dx = permute(dy, back)
end

moveaxis_adjoint = (x, from, to, y, dy) -> reshape(moveaxis(dy, to, from), size(x))

function d = split_for(dim, items, dy)
    d = cell(numel(items))
    at = 0
    for i = 0..numel(items)-1
        x = items[i]
        if numel(x) > 0
            n = size(x, dim)
            d[i] = reshape_one_adjoint(x, null, part(dy, dim, at, at+n-1))
            at += n
        end
    end
end

vertcat_adjoint = (items, y, dy) -> split_for(0, items, dy)
horzcat_adjoint = (items, y, dy) -> split_for(1, items, dy)

function d = cat_adjoint(items, y, dy)
    n = numel(items)
    rest = split_for(items[0], n > 1 ? items[1..n-1] : {}, dy)
    d = cell(n)
    for i = 1..n-1
        d[i] = rest[i-1]
    end
end

function d = repmat_adjoint(items, y, dy)
    x = items[0]
    dx = dy
    for dim = 0..ndims(dy)-1
        n = size(x, dim)
        times = size(dy, dim)/max(n,1)
        if times != 1
            rest = numel(dx)/max(size(dx,dim),1)
            summed = sum(reshape(lines_of(dx, dim), [times, n*rest]), 0)
            dx = from_lines(reshape(summed, [n, rest]), dx, dim)
        end
    end
    d = cell(numel(items))
    d[0] = reshape_one_adjoint(x, y, dx)
end

circshift_adjoint = (x, shift, dim, y, dy) -> isnull(dim) ? circshift(dy, -shift) : circshift(dy, -shift, dim)
flip_adjoint = (x, dim, y, dy) -> flip(dy, given_dim(x, dim))
fliplr_adjoint = (x, y, dy) -> fliplr(dy)
flipud_adjoint = (x, y, dy) -> flipud(dy)

function dx = diag_adjoint(x, y, dy)
    if isvec(x) || size(x,1) == 1 % diag treats a column as a vec
        dx = reshape(diag(dy), size(x))
    else
        row = zeros_like(dy, numel(x))
        row[(0..numel(dy)-1)*(size(x,1)+1)] = as_row(dy)
        dx = reshape(row, size(x))
    end
end

diagm_adjoint = (x, y, dy) -> reshape_one_adjoint(x, y, is_one_number(dy) ? dy : isvec(dy) ? dy : diag(dy))
triu_adjoint = (x, k, y, dy) -> triu(dy, isnull(k) ? 0 : k)
tril_adjoint = (x, k, y, dy) -> tril(dy, isnull(k) ? 0 : k)

function [da, db] = kron_adjoint(a, b, y, dy)
    m = size(a,0)
    n = size(a,1)
    p = size(b,0)
    q = size(b,1)
    d = reshape(dy, [m,p,n,q])
    da = reshape_one_adjoint(a, y, sum(sum(d.*reshape(conj(b)+zeros_like(d,1), [1,p,1,q]), 1), 3))
    db = reshape_one_adjoint(b, y, sum(sum(d.*reshape(conj(a)+zeros_like(d,1), [m,1,n,1]), 0), 2))
end

function [da, db] = cross_adjoint(a, b, y, dy)
    da = reshape(cross(conj(b), dy), size(a))
    db = reshape(cross(dy, conj(a)), size(b))
end

% -- reductions --------------------------------------------------------------------------------------------------------

sum_adjoint = (x, dim, y, dy) -> dy
mean_adjoint = (x, dim, y, dy) -> dy/(numel(x)/max(numel(dy),1))

% Products of all other elements, as prefix times suffix products, so that zeros cause no division.
function p = others(x, dim)
    n = size(x, dim)
    if n > 1
        v = lines_of(x, dim)
        one = v[[0],:]*0 + 1
        before = vertcat(one, cumprod(v[0..n-2,:], 0))
        after = vertcat(flip(cumprod(flip(v[1..n-1,:], 0), 0), 0), one)
        p = from_lines(before.*after, x, dim)
    else
        p = x*0 + 1
    end
end

function dx = prod_adjoint(x, dim, y, dy)
    if is_one_number(x)
        dx = dy
    elseif isnull(dim)
        dx = reshape(sum(dy)*conj(others(as_row(x), 1)), size(x))
    else
        dx = dy.*conj(others(x, dim))
    end
end

function n = lines_length(x, dim)
    n = isnull(dim) ? numel(x) : size(x, dim)
end

function m = mean_along(x, dim)
    m = isnull(dim) ? mean(x) : mean(x, dim)
end

function dx = var_adjoint(x, dim, ddof, y, dy)
    n = lines_length(x, dim)
    left = n - (isnull(ddof) ? 1 : ddof)
    dx = left > 0 ? dy.*(x - mean_along(x, dim))*(2/left) : 0*x
end

std_adjoint = (x, dim, ddof, y, dy) -> var_adjoint(x, dim, ddof, null, safe_divide(dy, 2*y))

% Along a dimension the element that was found gets the adjoint; a total extremum divides it among equal elements.
function dx = extremum_of(x, dim, y, i, dy)
    if isnull(dim)
        same = cast_like(x == y, x)
        dx = same.*(dy/max(sum(same),1))
    else
        dx = add_along(dy, i, dim, size(x,dim))
    end
end

function dx = max_adjoint(x, b, dim, y, i, dy, di)
    dx = extremum_of(x, dim, y, i, dy)
end

function dx = cumsum_adjoint(x, dim, y, dy)
    d = given_dim(x, dim)
    dx = is_one_number(dy) ? dy : flip(cumsum(flip(dy, d), d), d)
end

% dx[i] is the product of the elements before x[i], times the recurrence s[i] = dy[i] + x[i+1]*s[i+1].
function dx = cumprod_adjoint(x, dim, y, dy)
    if numel(x) <= 1
        dx = dy
    elseif iscomplex(x)
        d = given_dim(x, dim)
        n = size(x, d)
        v = conj(lines_of(x, d))
        w = lines_of(dy, d)
        s = w[n-1,:]
        rows = cell(n)
        rows[n-1] = s
        for i = n-2..-1..0
            s = w[i,:] + v[i+1,:].*s
            rows[i] = s
        end
        before = n > 1 ? vertcat(v[0,:]*0+1, cumprod(v[0..n-2,:], 0)) : v*0+1
        dx = from_lines(before.*stacked(rows), x, d)
    else
        [outer, n, inner] = around(x, given_dim(x, dim))
        s = [outer, n, inner]
        dx = uninit_like(dy, s)
        parallel_do([outer,inner], dx, reshape(x, s), reshape(y, s), reshape(dy, s), cumprod_back)
        dx = reshape(dx, size(x))
    end
end

function [] = __kernel__ cumprod_back(dx : cube'unchecked, x : cube'unchecked, y : cube'unchecked, dy : cube'unchecked, _
                                      pos : ivec2)
    n = size(x,1)
    s = dy[pos[0],n-1,pos[1]]
    for i = n-1..-1..1
        dx[pos[0],i,pos[1]] = y[pos[0],i-1,pos[1]]*s
        s = dy[pos[0],i-1,pos[1]] + x[pos[0],i,pos[1]]*s
    end
    dx[pos[0],0,pos[1]] = s
end

function m = stacked(rows)
    m = rows[0]
    if numel(rows) > 1
        m = apply(vertcat, rows)
    end
end

function dx = diff_adjoint(x, dim, y, dy)
    d = given_dim(x, dim)
    if numel(dy) == 0
        dx = 0*x
    else
        dx = between(dy, d, -1)
    end
end

% The adjoints of x and u from e, the adjoints of the areas (u[i] + u[i+1])/2*(x[i+1] - x[i]) along d.
function [dx, du] = back_to_areas(x, u, d, e, wanted)
    n = numel(x)
    dx = null
    if wanted[0]
        s = conj(part(u, d, 1, n-1) + part(u, d, 0, n-2))/2.*e
        dx = reshape(between(fit(s, zeros_like(x, one_dim(n-1, d))), d, -1), size(x))
    end
    du = wanted[1] ? between(e.*reshape(diff(as_row(x)), one_dim(n-1, d))/2, d, 1) : null
end

% Returns e[i-1] + sign*e[i] along d, where e is 0 outside: one element more.
function v = between(e, d, sign)
    none = part(e, d, 0, 0)*0
    v = cat(d, none, e) + cat(d, sign*e, none)
end

% The adjoints of trapz(a, b, dim), or of cumulative_trapezoid.
function [da, db] = back_to_trapezoids(a, b, dim, dy, cumulative, wanted)
    db = null
    u = isnull(b) ? a : b
    d = isnull(b) ? main_dim(a) : given_dim(b, dim)
    n = size(u, d)
    if n == 1
        da = 0*a
        db = isnull(b) ? null : 0*b
    elseif isnull(b) || isnull(a) || numel(a) == 0
        [outer, n, inner] = around(u, d)
        if cumulative
            from = reshape(cumsum_adjoint(u, d, null, dy), [outer,n,inner])
            du = from - reshape(dy, [outer,n,inner])/2
            du[:,0,:] -= from[:,0,:]/2
        else
            weights = ones_like(dy + zeros_like(dy, 1), one_dim(n, 1))
            weights[[0,n-1]] = 0.5
            du = (outer*inner == 1 ? dy : reshape(dy, [outer,1,inner])).*weights
        end
        du = reshape(du, size(u))
        da = isnull(b) ? du : null
        db = isnull(b) ? null : du
    else
        e = dy
        if cumulative
            e = part(cumsum_adjoint(u, d, null, dy), d, 1, n-1)
        elseif !is_one_number(dy)
            s = ones(1, max(ndims(u), d+1))
            s[0..ndims(u)-1] = size(u)
            s[d] = 1
            e = reshape(dy, s)
        end
        [da, db] = back_to_areas(beside(a, b), beside(b, a), d, e, wanted)
    end
end

function [da, db] = trapz_adjoint(a, b, dim, y, dy, wanted)
    [da, db] = back_to_trapezoids(a, b, dim, dy, false, wanted)
end

function [da, db] = cumulative_trapezoid_adjoint(a, b, dim, y, dy, wanted)
    [da, db] = back_to_trapezoids(a, b, dim, dy, true, wanted)
end

% -- by parts: differentiates a function that computes the same from built-ins with rules ------------------------------

function r = reshape_like(x, y)
    r = is_one_number(y) ? sum(x) : reshape(x, size(y))
end

% A quantile interpolates two neighbours of the sorted elements; `at`: its position among them, a row for several.
function dx = quantile_from(x, at, dim, dy)
    n = lines_length(x, dim)
    low = min(max(floor(at), 0), n-1)
    part_of = at - low
    along_dim = isnull(dim) ? 1 : dim
    line = isnull(dim) ? as_row(x) : x
    d = isnull(dim) ? reshape(dy + zeros_like(x, 1), [1,numel(at)]) : dy
    if all(part_of == 0)
        dx = add_along(d, rank_positions(line, low, along_dim), along_dim, n)
    else
        t = reshape(cast_like(part_of, line), one_dim(numel(at), along_dim))
        positions = rank_positions(line, horzcat(low, min(low+1, n-1)), along_dim)
        dx = add_along(cat(along_dim, d.*(1-t), d.*t), positions, along_dim, n)
    end
    dx = reshape(dx, size(x))
end

% Returns the size of n elements along a dimension.
function s = one_dim(n, dim)
    s = ones(1, max(dim+1, 2))
    s[dim] = n
end

function [dx, dp] = quantile_adjoint(x, q, dim, method, y, dy)
    n = lines_length(x, dim)
    grid = float64(0..n-1)
    at = isnull(method) ? quantile(grid, q) : quantile(grid, q, 1, method)
    dx = quantile_from(x, as_row(listed(at)), dim, dy)
    dp = "quantile has no derivative with respect to its level: the elements around it change in jumps"
end

function v = listed(x)
    v = is_one_number(x) ? float64([x]) : x
end

function [dx, dp] = percentile_adjoint(x, p, dim, method, y, dy)
    [dx, dp] = quantile_adjoint(x, p/100, dim, method, y, dy)
end

function dx = median_adjoint(x, dim, y, dy)
    if isnull(dim) && !isvec(x)
        dim = 0
    end
    at = float64([(lines_length(x, dim)-1)/2])
    dx = quantile_from(x, at, dim, dy)
end

% -- without nan -------------------------------------------------------------------------------------------------------

function n = numbers_in(x, dim)
    there = float64(!isnan(x))
    n = isnull(dim) ? sum(there) : sum(there, dim)
end

nansum_adjoint = (x, dim, y, dy) -> cast_like(!isnan(x), x).*dy
nanmean_adjoint = (x, dim, y, dy) -> cast_like(!isnan(x), x).*safe_divide(dy, numbers_in(x, dim))

function dx = nanvar_adjoint(x, dim, ddof, y, dy)
    n = numbers_in(x, dim)
    left = n - (isnull(ddof) ? 1 : ddof)
    total = isnull(dim) ? nansum(x) : nansum(x, dim)
    dx = where(isnan(x), 0, 2*safe_divide(dy, max(left,0)).*(where(isnan(x), 0, x) - safe_divide(total, n)))
end

nanstd_adjoint = (x, dim, ddof, y, dy) -> nanvar_adjoint(x, dim, ddof, null, safe_divide(dy, 2*y))

function dx = nanmax_adjoint(x, dim, y, dy)
    i = null
    if !isnull(dim)
        [v, i] = max(x, [], dim) % nan loses
    end
    dx = extremum_of(x, dim, y, i, dy)
end

function dx = nanmin_adjoint(x, dim, y, dy)
    i = null
    if !isnull(dim)
        [v, i] = min(x, [], dim)
    end
    dx = extremum_of(x, dim, y, i, dy)
end

% nan is sorted behind all numbers.
function dx = nanmedian_adjoint(x, dim, y, dy)
    if isnull(dim)
        dim = isvec(x) ? 1 : 0
    end
    [s, i] = sort(x, dim)
    last = max(numbers_in(x, dim)-1, 0)
    positions = take_along(i, cat(dim, floor(last/2), ceil(last/2)), dim)
    d = reshape(dy + zeros_like(x, 1), size(last))
    dx = add_along(cat(dim, d, d)/2, positions, dim, size(x,dim))
end

% -- sorting -----------------------------------------------------------------------------------------------------------

function dx = sort_adjoint(x, a, b, y, i, dy, di)
    dim = isnull(a) || isstring(a) ? b : a
    dim = isnull(dim) || isstring(dim) ? main_dim(x) : dim
    dx = numel(x) <= 1 ? dy : add_along(dy, i, dim, size(x,dim))
end

take_along_adjoint = (x, at, dim, y, dy) -> add_along(dy, at, dim, size(x,dim))
add_along_adjoint = (x, at, dim, n, y, dy) -> take_along(dy, at, dim)

function dx = find_adjoint(x, row, column, v, drow, dcolumn, dv)
    dx = null
    if !isnull(dv)
        [row, column] = find(x)
        line = zeros_like(dv + zeros_like(dv), numel(x))
        line[int(float64(row)*size(x,1) + column)] = as_row(dv)
        dx = reshape_one_adjoint(x, v, line)
    end
end

% Sorting with positions is faster than unique with positions. Equal elements keep their order, so that the first one of
% them is the first one in x.
function dx = unique_adjoint(x, y, first, which, counts, dy, df, dw, dc)
    first = null
    if iscomplex(x) || numel(x) < 2
        [_, first] = unique(x)
    else
        [sorted_, order] = sort(as_row(x))
        n = numel(sorted_)
        a = sorted_[0..n-2]
        b = sorted_[1..n-1]
        first = order[horzcat(ones_like(a, 1), cast_like(!(a == b || (isnan(a) && isnan(b))), a)) > 0]
    endif
    row = zeros_like(dy + zeros_like(dy), numel(x))
    row[first] = as_row(dy)
    dx = reshape_one_adjoint(x, y, row)
end

function [da, db] = dotprod_adjoint(a, b, y, dy)
    da = reshape_one_adjoint(a, y, dy.*conj(as_row(beside(b, a))))
    db = reshape_one_adjoint(b, y, dy.*conj(as_row(beside(a, b))))
end

norm_adjoint = (x, y, dy) -> x.*safe_divide(dy, y)
norm1_adjoint = (x, dim, y, dy) -> dy.*(iscomplex(x) ? safe_divide(x, abs(x)) : sign(x))

% The division removes the rounding of y, which is large beside 1 for large x.
function dx = logsumexp_adjoint(x, dim, y, dy)
    e = exp(x - y)
    dx = dy.*(e./(isnull(dim) ? sum(e) : sum(e, dim)))
end

squared_norm_adjoint = (x, y, dy) -> 2*dy.*x

% -- sampled functions -------------------------------------------------------------------------------------------------

% Returns the interval of ascending x that contains each position.
function k = interval(x, at)
    k = min(interp1(float64(x), float64(0..numel(x)-1), float64(at), "previous", "clamp"), numel(x)-2)
end

% Returns the slopes at the points for the monotone interpolant, as in SciPy's PchipInterpolator.
function d = pchip_slopes(x, y)
    h = diff(as_row(x))
    n = numel(h)
    m = diff(as_row(y))./h
    if n == 1
        d = horzcat(m, m)
    else
        w1 = 2*h[1..n-1] + h[0..n-2]
        w2 = h[1..n-1] + 2*h[0..n-2]
        left = m[0..n-2]
        right = m[1..n-1]
        same = left.*right > 0
        inner = where(same, (w1+w2)./(w1./where(same, left, 1) + w2./where(same, right, 1)), 0)
        d = horzcat(pchip_end(h[0], h[1], m[0], m[1]), inner, pchip_end(h[n-1], h[n-2], m[n-1], m[n-2]))
    end
end

function d = pchip_end(h0, h1, m0, m1)
    d = ((2*h0+h1)*m0 - h0*m1)/(h0+h1)
    if sign(d) != sign(m0)
        d = 0*d
    elseif sign(m0) != sign(m1) && abs(d) > 3*abs(m0)
        d = 3*m0
    end
end

% Returns the slopes of the not-a-knot spline: smooth second derivative; third one at the second and last but one point.
function d = spline_slopes(x, y)
    x = as_row(x)
    y = as_row(y)
    n = numel(x)
    h = diff(x)
    m = diff(y)./h
    if n == 2
        d = horzcat(m, m)
    elseif n == 3
        a = (m[1]-m[0])/(x[2]-x[0])
        d = horzcat(m[0]-a*h[0], m[0]+a*h[0], m[1]+a*h[1])
    else
        left = h[0..n-3]
        right = h[1..n-2]
        first = h[[0]] + h[[1]]
        last = h[[n-3]] + h[[n-2]]
        b0 = ((h[[0]]+2*first).*h[[1]].*m[[0]] + h[[0]].^2.*m[[1]])./first
        bn = (h[[n-2]].^2.*m[[n-3]] + (2*last+h[[n-2]]).*h[[n-3]].*m[[n-2]])./last
        b = horzcat(b0, 3*(right.*m[0..n-3] + left.*m[1..n-2]), bn)
        d = tridiagonal(horzcat(right, last), horzcat(h[[1]], 2*(left+right), h[[n-3]]), horzcat(first, left), b)
    end
end

% Solves a tridiagonal system with the given elements below, on and above the diagonal, without exchanging rows.
{!adjoint tridiagonal_rule}
function d = tridiagonal(below, diagonal, above, b)
    n = numel(b)
    pivot = copy(diagonal)
    d = copy(b)
    for i = 1..n-1
        f = below[i-1]/pivot[i-1]
        pivot[i] -= f*above[i-1]
        d[i] -= f*d[i-1]
    end
    d[n-1] /= pivot[n-1]
    for i = n-2..-1..0
        d[i] = (d[i] - above[i]*d[i+1])/pivot[i]
    end
end

function [dbelow, ddiagonal, dabove, db] = tridiagonal_rule(below, diagonal, above, b, d, dd)
    db = tridiagonal(conj(above), conj(diagonal), conj(below), dd)
    n = numel(d)
    v = conj(d)
    dbelow = fit(-db[1..n-1].*v[0..n-2], below)
    ddiagonal = fit(-db.*v, diagonal)
    dabove = fit(-db[0..n-2].*v[1..n-1], above)
end

function v = hermite(x, y, d, k, at)
    x = as_row(x)
    y = as_row(y)
    h = x[k+1]-x[k]
    t = (at-x[k])./h
    v = y[k].*(1+2*t).*(1-t).^2 + d[k].*h.*t.*(1-t).^2 + y[k+1].*t.^2.*(3-2*t) + d[k+1].*h.*t.^2.*(t-1)
end

function v = column_at(x, y, at, method)
    x = as_row(x)
    y = as_row(y)
    xs = stop_gradient(x)
    as = stop_gradient(at)
    k = interval(xs, as)
    match method with
    | "linear" -> v = y[k] + (y[k+1]-y[k]).*(at-x[k])./(x[k+1]-x[k])
    | "nearest" -> v = y[where(as-xs[k] <= xs[k+1]-as, k, k+1)]
    | "previous" -> v = y[where(as >= xs[k+1], k+1, k)]
    | "next" -> v = y[where(as <= xs[k], k, k+1)]
    | "pchip" -> v = hermite(x, y, pchip_slopes(x, y), k, at)
    | _ -> v = hermite(x, y, spline_slopes(x, y), k, at)
    end
end

function v = interpolated(x, y, at, method, outside)
    where_at = as_row(at + zeros_like(x, 1))
    constant = stop_gradient(where_at)
    xs = stop_gradient(as_row(x))
    below = constant < xs[0]
    above = constant > xs[numel(x)-1]
    inside = where_at
    if !isstring(outside) || outside != "extrap"
        inside = where(below, x[0], where(above, x[numel(x)-1], where_at))
    end
    if isvec(y)
        v = column_at(x, y, inside, method)
        v = isstring(outside) ? v : where(below || above, 0, v)
    else
        columns = cell(size(y,1))
        for j = 0..size(y,1)-1
            c = column_at(x, reshape(y[:,j], [1,size(y,0)]), inside, method)
            columns[j] = isstring(outside) ? c : where(below || above, 0, c)
        end
        v = transpose(stacked(columns))
    end
end

function [dx, dy, dat, dmethod, doutside] = interp1_adjoint(x, y, at, method, outside, v, dv, wanted)
    name = isnull(method) ? "linear" : method
    y = beside(beside(y, x), at)
    x = beside(x, y)
    at = beside(at, y)
    [w, pull] = vjp((a, b, c) -> interpolated(wanted[0] ? a : x, wanted[1] ? b : y, wanted[2] ? c : at, name, outside), _
                    x, y, at)
    [dx, dy, dat] = pull(reshape_like(dv, w))
    dmethod = null
    doutside = null
    if !isnull(outside) && !isstring(outside)
        out = as_row(at + zeros_like(x, 1)) < min(x) || as_row(at + zeros_like(x, 1)) > max(x)
        doutside = sum(where(isvec(y) ? reshape(out, size(v)) : reshape(out, [numel(out),1]), dv, 0))
    end
end

function v = bilinear(z, x, y, method, outside)
    h = size(z,0)
    w = size(z,1)
    xs = stop_gradient(x)
    ys = stop_gradient(y)
    beyond = xs < 0 || xs > w-1 || ys < 0 || ys > h-1
    row = as_row(z)
    if method == "nearest"
        i = min(max(ceil(ys-0.5), 0), h-1)
        j = min(max(ceil(xs-0.5), 0), w-1)
        v = row[i*w+j]
    else
        free = isstring(outside) && outside == "extrap"
        cx = free ? x : where(xs < 0, 0, where(xs > w-1, w-1, x))
        cy = free ? y : where(ys < 0, 0, where(ys > h-1, h-1, y))
        j = min(max(floor(stop_gradient(cx)), 0), max(w-2,0))
        i = min(max(floor(stop_gradient(cy)), 0), max(h-2,0))
        a = cx-j
        b = cy-i
        right = w > 1 ? 1 : 0
        down = h > 1 ? w : 0
        at = i*w+j
        v = (row[at].*(1-a) + row[at+right].*a).*(1-b) + (row[at+down].*(1-a) + row[at+down+right].*a).*b
    end
    v = isstring(outside) ? v : where(beyond, 0, v)
end

% Linear interpolation of real z as by bilinear, in one pass; x and y have the size of v.
function [] = __kernel__ bilinear_at(v : vec'unchecked, z : mat'unchecked, x : vec'unchecked, y : vec'unchecked, _
                                     free : int, zero : int, pos : int)
    h = size(z,0)
    w = size(z,1)
    xs = x[pos]
    ys = y[pos]
    cx = free > 0 ? xs : xs < 0 ? 0 : xs > w-1 ? w-1 : xs
    cy = free > 0 ? ys : ys < 0 ? 0 : ys > h-1 ? h-1 : ys
    j = clamp(int(floor(cx)), 0, max(w-2, 0))
    i = clamp(int(floor(cy)), 0, max(h-2, 0))
    a = cx - j
    b = cy - i
    right = min(j+1, w-1)
    down = min(i+1, h-1)
    s = (z[i,j]*(1-a) + z[i,right]*a)*(1-b) + (z[down,j]*(1-a) + z[down,right]*a)*b
    v[pos] = zero > 0 && (xs < 0 || xs > w-1 || ys < 0 || ys > h-1) ? 0 : s
end

function v = bilinear_real(z, x, y, outside, like)
    v = uninit_like(like, numel(x))
    parallel_do(numel(x), v, z, x, y, isstring(outside) && outside == "extrap", !isstring(outside), bilinear_at)
end

function [dz, dx, dy, dmethod, doutside] = interp2_adjoint(z, x, y, method, outside, v, dv, wanted)
    dmethod = null
    doutside = null
    name = isnull(method) ? "linear" : method
    if name != "linear" && name != "nearest"
        dz = "interp2 has a derivative for linear and nearest interpolation alone"
        dx = dz
        dy = dz
    else
        none = real(zeros_like(z, 1))
        simple = name == "linear" && isreal(z) && numel(x) == numel(y) && numel(z) > 0
        sample = simple ? (c, a, b) -> bilinear_real(c, a, b, outside, dv) : (c, a, b) -> bilinear(c, a, b, name, outside)
        [s, pull] = vjp((c, a, b) -> sample(wanted[0] ? c : z, as_row((wanted[1] ? a : x) + none), _
                                            as_row((wanted[2] ? b : y) + none)), z, x, y)
        [dz, dx, dy] = pull(reshape_like(dv, s))
        if !isnull(outside) && !isstring(outside)
            beyond = x < 0 || x > size(z,1)-1 || y < 0 || y > size(z,0)-1
            doutside = sum(where(beyond, dv, 0))
        end
    end
end

% The number of elements in an interval is piecewise constant; only the edges depend on the range.
function [dx, dbins, drange] = histogram_adjoint(x, bins, range, counts, edges, dcounts, dedges)
    dx = null
    dbins = null
    drange = null
    if !isnull(edges)
        t = linspace(float64([0]), 1, numel(dedges))
        lo = sum(dedges.*(1-t))
        hi = sum(dedges.*t)
        if !isnull(range) && numel(range) > 0
            drange = [lo, hi]
        elseif isnull(bins) || numel(bins) <= 1
            dx = lo*(x == min(x))/sum(x == min(x)) + hi*(x == max(x))/sum(x == max(x))
        else
            dbins = dedges
        end
    end
end

function [dx, dn, dweights] = bincount_adjoint(x, n, weights, y, dy)
    dx = null
    dn = null
    dweights = isnull(weights) ? null : reshape(as_row(dy)[int(as_row(x))], size(weights))
end

function y = horner(p, x, like) % of the type of like, the common type of p and x
    y = is_one_number(like) ? 0*x : zeros_like(like)
    for i = 0..numel(p)-1
        y = y.*x + p[i]
    end
end

function [dp, dx] = polyval_adjoint(p, x, y, dy)
    [v, pull] = vjp((p, x) -> horner(p, x, y), p, x)
    [dp, dx] = pull(dy)
end

function p = fitted(x, y, degree)
    n = numel(x)
    columns = cell(degree+1)
    for k = 0..degree
        columns[k] = as_row(x).^(degree-k)
    end
    p = as_row(solve(transpose(stacked(columns)), reshape(y, [n,1])))
end

function z = normalised(x)
    z = (x - mean(x))/std(x)
end

function mu = centre_and_scale(x)
    mu = horzcat(mean(x), std(x))
end

function [dx, dy] = polyfit_adjoint(x, y, degree, p, S, mu, dp, dS, dmu)
    dx = 0*x
    dy = null
    if !isnull(dp)
        scaled = !isnull(mu)
        [v, pull] = vjp((a, b) -> fitted(scaled ? normalised(a) : a, b, degree), beside(x, y), beside(y, x))
        [dx, dy] = pull(reshape_like(dp, v))
    end
    if !isnull(dmu)
        [v, pull] = vjp(centre_and_scale, x)
        dx = dx + pull(reshape_like(dmu, v))
    end
end

% At a root r of p, 0 = p(r), so dp(r) + p'(r) dr = 0.
function dp = roots_adjoint(p, r, dr)
    n = numel(p)
    slope = 0*r
    for i = 0..n-2
        slope = slope.*r + p[i]*(n-1-i)
    end
    parts = cell(n)
    for i = 0..n-1
        parts[i] = sum(dr.*conj(-(r.^(n-1-i))./slope))
    end
    dp = reshape(apply(horzcat, parts), size(p))
end

medfilt_adjoint = (x, r, y, dy) -> reshape(window_mirrored(x, isnull(r) ? 1 : r, y, dy), size(x))

movmin_adjoint = (x, window, dim, y, dy) -> moving_rule(movmin, x, window, dim, y, dy)
movmax_adjoint = (x, window, dim, y, dy) -> moving_rule(movmax, x, window, dim, y, dy)

function dx = moving_rule(f, x, window, dim, y, dy)
    if numel(window) == 4                       % rows and columns
        middle = f(x, window[0,:], 0)
        dx = moving_rule(f, x, window[0,:], 0, middle, moving_rule(f, middle, window[1,:], 1, y, dy))
    else
        [outer, n, inner] = around(x, given_dim(x, dim))
        before = min(numel(window) == 2 ? window[0] : floor(window/2), max(n-1, 0))
        after = min(numel(window) == 2 ? window[1] : window-1-floor(window/2), max(n-1, 0))
        dx = reshape(window_along(reshape(x, [outer,n*inner]), before, after, inner, reshape(y, [outer,n*inner]), _
                                  reshape(dy, [outer,n*inner])), size(x))
    end
end

function v = flipped(x)
    v = flip(flip(x, 0), 1)
end

% Extends the adjoint of a part of a convolution to that of the full convolution.
function d = whole(dy, na, nb, mode)
    if mode == "full"
        d = dy
    elseif mode == "same"
        from = ceil((nb-1)/2)
        d = padded(dy, from, na+nb-1-na-from)
    else
        d = padded(dy, min(na,nb)-1, na+nb-1-numel(dy)-(min(na,nb)-1))
    end
end

function d = padded(x, before, after)
    d = horzcat(zeros_like(x, before), as_row(x), zeros_like(x, after))
end

function [da, db] = conv_adjoint(a, b, mode, y, dy, wanted)
    d = whole(as_row(dy), numel(a), numel(b), isnull(mode) ? "full" : mode)
    da = wanted[0] ? correlated(d, b, a, y) : null
    db = wanted[1] ? correlated(d, a, b, y) : null
end

function dx = correlated(d, by, x, y)
    dx = reshape_one_adjoint(x, y, conv(d, conj(flip(as_row(by), 1)), "valid"))
end

function d = framed(x, rows, columns, top, left)
    d = zeros_like(x, rows, columns)
    if numel(x) > 0
        d[top..top+size(x,0)-1, left..left+size(x,1)-1] = x
    end
end

function [da, db] = conv2_adjoint(a, b, mode, y, dy, wanted)
    m = size(a,0) + size(b,0) - 1
    n = size(a,1) + size(b,1) - 1
    name = isnull(mode) ? "full" : mode
    top = 0
    left = 0
    if name == "same"
        top = ceil((size(b,0)-1)/2)
        left = ceil((size(b,1)-1)/2)
    elseif name == "valid"
        top = min(size(a,0),size(b,0))-1
        left = min(size(a,1),size(b,1))-1
    end
    d = framed(dy, m, n, top, left)
    da = wanted[0] ? correlated2(d, b, a) : null
    db = wanted[1] ? correlated2(d, a, b) : null
end

function dx = correlated2(d, by, x)
    dx = reshape(conv2(d, conj(flipped(by)), "valid"), size(x))
end

% Each of the three functions is linear in both operands, and its adjoints are the other two.
function [dx, dw, a, b, c, d, db] = conv_planes_adjoint(x, w, stride, padding, dilation, groups, bias, y, dy, wanted)
    dx = wanted[0] ? conv_planes_input(dy, w, size(x), stride, padding, dilation, groups) : null
    dw = wanted[1] ? conv_planes_weights(x, dy, size(w), stride, padding, dilation, groups) : null
    [a, b, c, d, db] = {null, null, null, null, null}
    if wanted[6]
        db = reshape(conv_planes_bias(dy), size(bias))
    end
end

function [ddy, dw] = conv_planes_input_adjoint(dy, w, sizes, stride, padding, dilation, groups, x, dx,
                                                              wanted)
    ddy = wanted[0] ? conv_planes(dx, w, stride, padding, dilation, groups) : null
    dw = wanted[1] ? conv_planes_weights(dx, dy, size(w), stride, padding, dilation, groups) : null
end

function [dx, ddy] = conv_planes_weights_adjoint(x, dy, sizes, stride, padding, dilation, groups, w, dw,
                                                                wanted)
    dx = wanted[0] ? conv_planes_input(dy, dw, size(x), stride, padding, dilation, groups) : null
    ddy = wanted[1] ? conv_planes(x, dw, stride, padding, dilation, groups) : null
end

conv_planes_bias_adjoint = (dy, db, d) -> zeros_like(dy) + reshape(d, [1, numel(d), 1, 1])

function c = covariance(x, y)
    if isnull(y)
        v = isvec(x) ? reshape(x, [numel(x),1]) : x
    else
        v = horzcat(reshape(x, [numel(x),1]), reshape(y, [numel(y),1]))
    end
    n = size(v,0)
    v = v - mean(v, 0)
    c = transpose(v)*conj(v)/(n-1)
end

function c = correlation(x, y)
    c = covariance(x, y)
    s = sqrt(diag(c))
    c = c./(transpose(s)*s)
end

function [dx, dy] = cov_adjoint(x, y, c, dc)
    [dx, dy] = by_pairs(covariance, x, y, dc)
end

% The p-value of r is the incomplete beta function of 1-r^2; it is 1 on the diagonal.
function dr = probability_slope(r, rows)
    a = (rows - 2)/2
    scale = exp(lgamma(a + 0.5) - lgamma(a) - lgamma(0.5))
    off = 1 - eye(size(r,0))
    dr = -2*scale*off.*sign(r).*(where(off == 1, 1 - r.*r, 1).^(a - 1))
end

function [dx, dy] = corrcoef_adjoint(x, y, c, p, dc, dp)
    d = dc
    rows = isnull(y) ? size(x,0) : numel(x)
    if !isnull(dp) && numel(dp) > 1 && rows > 2
        dr = dp.*probability_slope(correlation(x, y), rows)
        d = isnull(dc) ? dr : dc + dr
    end
    d = isnull(d) ? 0*dp : d
    [dx, dy] = by_pairs(correlation, x, y, d)
end

function [dx, dy] = by_pairs(f, x, y, dc)
    dy = null
    if isnull(y)
        [v, pull] = vjp(u -> f(u, null), x)
        dx = pull(reshape_like(dc, v))
    else
        [v, pull] = vjp(f, x, y)
        [dx, dy] = pull(reshape_like(dc, v))
    end
end

% -- linear algebra: Giles 2008; Seeger, Hetzel, Dai, Meissner and Lawrence 2017; Walter and Lehmann 2010 ---------------

function [dA, dB] = solve_adjoint(A, B, X, F, dX, dF, wanted)
    if is_one_number(A) || numel(A) == 1
        dB = dX./conj(sum(A))
        dA = -sum(dB.*conj(X))
    elseif size(A,0) == size(A,1)
        dB = F == null ? solve(herm_transpose(A), dX) : solve_back(A, dX, F)
        dA = wanted[0] ? -dB*herm_transpose(X) : null
    else
        A = beside(A, B)
        P = pinv(A)
        dB = herm_transpose(P)*dX
        dA = wanted[0] ? pinv_adjoint(A, null, P, dX*herm_transpose(B)) : null
    end
end

function [dA, dB] = solve_back_adjoint(A, B, F, X, dX, wanted)
    dB = solve(A, dX)
    dA = wanted[0] ? -X*herm_transpose(dB) : null
end

function dA = inv_adjoint(A, Y, dY)
    H = herm_transpose(Y)
    dA = is_one_number(Y) || numel(Y) == 1 ? -dY.*conj(Y).^2 : -(H*dY*H)
end

function dA = pinv_adjoint(A, tolerance, P, dP)
    H = herm_transpose(P)
    G = herm_transpose(dP)
    dA = -(H*dP*H) + (eye_like(A, 0) - A*P)*(G*(P*H)) + H*(P*G)*(eye_like(A, 1) - P*A)
end

function I = eye_like(A, dim)
    I = cast_like(eye(size(A,dim)), A)
end

% For a (nearly) singular matrix, whose inverse is too inaccurate for second derivatives, uses the cofactors; for a
% large matrix computes them from products of all other singular values.
function dA = det_adjoint(A, y, dy)
    if numel(A) == 1
        dA = dy
    elseif !is_nearly_singular(stop_gradient(A), stop_gradient(y))
        dA = dy*conj(y)*herm_transpose(inv(A))
    elseif size(A,0) <= 8
        dA = dy*conj(cofactors(A))
    else
        [U, S, V] = svd(A)
        turn = conj(det(U)*det(herm_transpose(V)))
        dA = dy*turn*(U*diagonal(others(as_row(diag(S)), 1))*herm_transpose(V))
    end
end

% By Hadamard's inequality, |det A| is at most the product of the lengths of the rows.
function y = is_nearly_singular(A, det)
    y = det == 0 || abs(det) < 1e-5*prod(sqrt(sum(abs(A).^2, 1)))
end

function C = cofactors(A)
    n = size(A,0)
    C = zeros_like(A)
    for i = 0..n-1
        for j = 0..n-1
            C[i,j] = (-1)^(i+j)*det(A[without(0..n-1, i),without(0..n-1, j)])
        end
    end
end

function D = diagonal(v)
    D = diagm(as_row(v))
end

function dA = logdet_adjoint(A, y, dy)
    if real(y) == -inf
        error("logdet has no derivative: the matrix is singular")
    end
    dA = numel(A) == 1 ? dy./conj(A) : dy*herm_transpose(inv(A))
end

trace_adjoint = (A, y, dy) -> is_one_number(A) ? dy : dy*cast_like(eye(size(A,0), size(A,1)), A)
cond_adjoint = (A, y, dy) -> diffmul_of(condition, A, dy)

function c = condition(A)
    s = svd(A)
    if s[numel(s)-1] == 0
        error("cond has no derivative: a singular value is 0")
    end
    c = s[0]/s[numel(s)-1]
end

function S = symmetric(X)
    S = (X + herm_transpose(X))/2
end

% chol is taken as a function of symmetric matrices: the derivative is symmetric, although only one half is read.
function dA = chol_adjoint(A, R, dR)
    if numel(A) == 1
        dA = dR./(2*R)
    else
        M = R*herm_transpose(dR)
        half = tril(M) - diagonal(diag(M))/2
        left = solve(R, half)
        dA = symmetric(solve(R, herm_transpose(left)))
    end
end

function dA = chol_ex_adjoint(A, R, info, dR, dinfo)
    info = isnull(info) ? 0 : info
    dA = info == 0 ? chol_adjoint(A, R, dR) : 0*A
end

% A[p,:] = L*U: the cotangent of L counts below the diagonal, that of U on and above it.
function dA = lu_adjoint(A, L, U, p, dL, dU, dp)
    n = size(A, 0)
    if n != size(A, 1)
        error("lu has a derivative of square matrices only, got ", n, " x ", size(A, 1))
    end
    two = isnull(p)
    [L, U, p] = lu(A)
    if any(as_row(abs(diag(U))) <= spacing(U)*max(abs(stop_gradient(U))))
        error("lu has no derivative: the matrix is singular")
    end
    dU = isnull(dU) ? 0*U : dU
    dL = isnull(dL) ? 0*L : (two ? dL[p,:] : dL)
    H = herm_transpose(L)*dL
    M = H - triu(H) + triu(dU*herm_transpose(U))
    dA = zeros_like(A)
    dA[p,:] = herm_transpose(solve(U, herm_transpose(solve(herm_transpose(L), M))))
end

function dA = qr_adjoint(A, Q, R, p, dQ, dR, dp)
    if isnull(p)
        dA = qr_in_order(A, dQ, dR)
    else
        dA = zeros_like(A)
        dA[:,p] = qr_in_order(A[:,p], dQ, dR)
    end
end

function dA = qr_in_order(A, dQ, dR)
    m = size(A,0)
    n = size(A,1)
    [Q, R] = qr(A)
    dQ = isnull(dQ) ? 0*Q : dQ
    dR = isnull(dR) ? 0*R : dR
    if m >= n
        dA = qr_tall(Q, R, dQ, dR)
    else % R is [U, V], and V = Q' times the remaining columns
        Y = A[:,m..n-1]
        dV = dR[:,m..n-1]
        dX = qr_tall(Q, R[:,0..m-1], dQ + Y*herm_transpose(dV), dR[:,0..m-1])
        dA = horzcat(dX, Q*dV)
    end
end

function dA = qr_tall(Q, R, dQ, dR)
    lengths = as_row(sqrt(sum(abs(stop_gradient(R)).^2, 0)))
    if any(as_row(abs(diag(R))) <= spacing(R)*lengths)
        error("qr has no derivative: the first ", size(R,1), " columns of the matrix depend on each other")
    end
    M = triu(dR*herm_transpose(R) - herm_transpose(Q)*dQ)
    S = M + herm_transpose(M)
    S = S - diagonal(diag(S))/2
    dA = herm_transpose(solve(R, herm_transpose(dQ + Q*S)))
end

% Returns the rounding error of a factorisation of a matrix like x, relative to its largest value.
function e = spacing(x)
    e = 10*max(size(x,0), size(x,1))*(is_coarse(x) ? 2^-23 : 2^-52)
end

function y = is_coarse(x) % whether x has floats narrower than float64; a single element has the precision of a number
    one = real(zeros_like(x, 1)) + 1
    y = any(one + 2^-40 == one)
end

% Returns the vectors on which the result depends; in forward mode all adjoints are zero, and all vectors are needed.
function u = used(dV)
    m = as_row(max(abs(stop_gradient(dV)), [], 0))
    u = m > 0 || max(m) == 0
end

% Returns 1/(d[j]-d[i]), 0 on the diagonal.  Equal values have no unique vectors.  If the result also depends on values,
% zeros in the adjoint do not prove that vectors are unused: the adjoint of V in V*diagm(d)*V' is 0 where d is, and V*V'
% may have the same one but a different derivative.  Unused vectors of values that differ only by rounding are ignored.
function F = gaps(d, u, values, what)
    n = numel(d)
    D = repmat(as_row(d), [n,1]) - transpose(repmat(as_row(d), [n,1]))
    off = !(eye(n) == 1)
    asked = repmat(u, [n,1]) || transpose(repmat(u, [n,1]))
    if any(off && abs(D) <= where(asked, spacing(D)*max(abs(d)), values ? 0 : -1))
        error(what, " has no derivative: two of its values are equal, and their vectors are any of a plane")
    end
    apart = off && D != 0
    F = where(apart, 1./where(apart, D, 1), 0)
end

% Returns the large element of each vector that is made real and positive, by the rule of linalg.c.
function i = turned_by(V)
    i = zeros(size(V,1))
    for k = 0..size(V,1)-1
        a = abs(V[:,k])
        i[k] = find_index_max(as_row(a >= 0.9*max(a)))
    end
end

% Adds to the adjoint of the large element of each vector the effect of its phase; c: the derivative by the phases.
function G = turned_back(G, V, c)
    if iscomplex(V)
        i = turned_by(V)
        for k = 0..size(V,1)-1
            G[i[k],k] = G[i[k],k] + 1j*c[k]/V[i[k],k]
        end
    end
end

function c = turn_cost(G, V)
    c = as_row(real(sum(conj(G).*(-1j*V), 0)))
end

function dA = svd_adjoint(A, U, S, V, dU, dS, dV)
    only = isnull(S)
    first = dU
    [U, S, V] = svd(A)
    s = as_row(diag(S))
    H = herm_transpose(V)
    if only
        dA = U*diagonal(first)*H
    else
        inner = isnull(dS) ? 0*S : diagonal(diag(dS))
        dA = isnull(dU) && isnull(dV) ? U*inner*H : svd_vectors(A, U, s, V, inner, dU, dV, !isnull(dS))
    end
end

% Vectors of a singular value 0 are determined only on the shorter side, and no phase connects them.
function [] = check_null(A, s, dU, dV)
    for G = iscomplex(A) ? {dU, dV} : size(A,0) > numel(s) ? {dU} : size(A,1) > numel(s) ? {dV} : {}
        if !isnull(G) && any(s <= where(used(G), spacing(A)*max(s), 0))
            error("svd has no derivative: a singular value is 0, and its vectors are not determined")
        end
    end
end

function dA = svd_vectors(A, U, s, V, inner, dU, dV, values)
    check_null(A, s, dU, dV)
    dU = isnull(dU) ? 0*U : dU
    dV = isnull(dV) ? 0*V : dV
    H = herm_transpose(V)
    if iscomplex(A)
        dU = turned_back(copy(dU), U, turn_cost(dU, U) + turn_cost(dV, V))
    end
    T = diagonal(s)
    sums = repmat(s, [numel(s),1]) + transpose(repmat(s, [numel(s),1]))
    F = safe_divide(gaps(s, used(vertcat(dU, dV)), values, "svd"), sums)
    K = herm_transpose(U)*dU
    L = H*dV
    inner = inner + (F.*(K - herm_transpose(K)))*T + T*(F.*(L - herm_transpose(L)))
    if iscomplex(A)
        inner = inner + diagonal(1j*imag(as_row(diag(K)))./s)
    end
    dA = U*inner*H
    over = diagonal(safe_divide(1, s))
    if size(A,0) > numel(s)
        dA = dA + (dU - U*K)*over*H
    end
    if size(A,1) > numel(s)
        dA = dA + U*over*(herm_transpose(dV) - herm_transpose(L)*H)
    end
end

function dC = symeig_adjoint(C, V, d, dV, dd)
    only = isnull(d)
    if only
        dd = dV
    end
    [V, d] = symeig(C)
    H = herm_transpose(V)
    inner = isnull(dd) ? diagonal(0*d) : diagonal(dd)
    if !only && !isnull(dV)
        if iscomplex(C)
            dV = turned_back(copy(dV), V, turn_cost(dV, V))
        end
        inner = inner + gaps(d, used(dV), !isnull(dd), "symeig").*(H*dV)
    end
    dC = symmetric(V*inner*H)
end

function dA = eig_adjoint(A, V, d, W, dV, dd, dW)
    if !isnull(dW)
        error("eig has no derivative of its left eigenvectors; inv(herm_transpose(V)) has them up to their lengths")
    end
    only = isnull(d)
    if only
        dd = dV
    end
    [V, d] = eig(A)
    if cond(stop_gradient(V))*spacing(V) > 1
        error("eig has no derivative: the matrix has fewer independent eigenvectors than rows")
    end
    inner = isnull(dd) ? diagonal(0*d) : diagonal(dd)
    if !only && !isnull(dV) % length 1, the largest element real
        c = as_row(real(sum(conj(dV).*(1j*V), 0)))
        G = dV - V.*real(sum(conj(dV).*V, 0))
        for k = 0..numel(d)-1
            i = find_index_max(as_row(abs(V[:,k])))
            G[i,k] = G[i,k] - 1j*c[k]/V[i,k]
        end
        inner = inner + conj(gaps(d, used(dV), !isnull(dd), "eig")).*(herm_transpose(V)*G)
    end
    dA = solve(herm_transpose(V), inner*herm_transpose(V))
end

% -- Fourier transforms: the adjoint is the inverse without its factor --------------------------------------------------

function dx = fft1_adjoint(x, dim, y, dy)
    d = given_dim(x, dim)
    dx = ifft1(dy, d)*size(x, d)
end

function dx = ifft1_adjoint(x, dim, y, dy)
    d = given_dim(x, dim)
    dx = fft1(dy, d)/size(x, d)
end

fft2_adjoint = (x, y, dy) -> ifft2(dy)*(size(x,0)*size(x,1))
ifft2_adjoint = (x, y, dy) -> fft2(dy)/(size(x,0)*size(x,1))
fft3_adjoint = (x, y, dy) -> ifft3(dy)*(size(x,0)*size(x,1)*size(x,2))
ifft3_adjoint = (x, y, dy) -> fft3(dy)/(size(x,0)*size(x,1)*size(x,2))
fftshift1_adjoint = (x, y, dy) -> ifftshift1(dy)
fftshift2_adjoint = (x, y, dy) -> ifftshift2(dy)
fftshift3_adjoint = (x, y, dy) -> ifftshift3(dy)
ifftshift1_adjoint = (x, y, dy) -> fftshift1(dy)
ifftshift2_adjoint = (x, y, dy) -> fftshift2(dy)
ifftshift3_adjoint = (x, y, dy) -> fftshift3(dy)

% -- what is made of vjp and jvp ---------------------------------------------------------------------------------------

% Number of dimensions; a vec has one, a number none.
function s = own_size(x)
    s = is_one_number(x) ? [] : isvec(x) ? [numel(x)] : size(x)
end

% Trees: nested cells and objects of numbers and arrays.
function yes = is_tree(x)
    yes = iscell(x) || (isobject(x) && type(x) == "object")
end
function yes = is_smooth(x)
    yes = isnumeric(x) && !isint(x) && !isbool(x)
end
function v = part_of(x, k)
    v = iscell(x) ? x[k] : getfield(x, k)
end
function y = with_part(x, k, v)
    y = copy(x)
    if iscell(x)
        y[k] = v
    else
        setfield(y, k, v)
    end
end
% Returns a tree with the structure of x: g(key) for each part, null for parts without floats.
function y = each_part(x, g)
    y = iscell(x) ? cell(size(x)) : object()
    for k = iscell(x) ? 0..numel(x)-1 : fieldnames(x)
        v = part_of(x, k)
        y = with_part(y, k, is_tree(v) || is_smooth(v) ? g(k) : null)
    end
end

function J = jacobian_of(f, x)
    if is_tree(x)
        J = each_part(x, k -> jacobian_of(v -> f(with_part(x, k, v)), part_of(x, k)))
    else
        J = jacobian_by_array(f, x)
    end
end

function J = jacobian_by_array(f, x)
    [y, pull] = vjp(f, x)
    if iscomplex(y)
        error("jacobian: the function gives complex numbers; take it of their real and imaginary parts")
    end
    if is_one_number(y)
        J = pull(1)
    else
        n = numel(y)
        rows = cell(n)
        for i = 0..n-1
            e = zeros_like(y)
            e[position_of(y, i)] = 1
            rows[i] = as_row(pull(e) + zeros_like(y, 1))
        end
        s = horzcat(own_size(y), own_size(x))
        J = reshape(n == 0 ? cast_like(zeros(0), y) : stacked(rows), numel(s) == 1 ? [1,s[0]] : s)
    end
end

function p = position_of(y, i)
    p = isvec(y) ? i : ind2pos(size(y), i)
end

% get: returns the part of a tree like x; put: returns the tree with that part replaced.
function H = hessian_by_part(f, x, part, get, put)
    if is_tree(part)
        H = each_part(part, k -> hessian_by_part(f, x, part_of(part, k), z -> part_of(get(z), k),
                                                 (z, v) -> put(z, with_part(get(z), k, v))))
    else
        H = jacobian_of(z -> grad(v -> f(put(z, v)), get(z)), x)
    end
end

function H = hessian_of(f, x)
    H = hessian_by_part(f, x, x, z -> z, (z, v) -> v)
end

function h = hvp_of(f, x, v)
    [g, h] = jvp(z -> grad(f, z), x, v)
end

function d = diffmul_of(f, a, da)
    [y, pull] = vjp(f, a)
    d = pull(da)
end

function d = diff_of(f, x)
    [y, pull] = vjp(f, x)
    if !isnumeric(x) || isint(x) || isbool(x)
        d = grad(f, x) % parts of a cell or object; other values have no gradient
    elseif is_one_number(y) || (numel(y) == 1 && numel(x) == 1)
        d = pull(1)
    elseif is_one_number(x)
        [v, d] = jvp(f, x, 1)
    else
        what = "$diff: elements of the expression depend on several elements of the variable; use jacobian"
        if !isequal(size(y), size(x))
            error(what)
        end
        d = pull(ones_like(y))
        for i = 1..2 % uneven weights reveal a Jacobian that is not diagonal
            w = uneven(y, i)
            if max(abs(pull(w) - d.*w)) > 1e-4*max(abs(d.*w)) + 1e-30
                error(what)
            end
        end
    end
end

% Returns weights without regularity; the random numbers of the program are unchanged.
function w = uneven(y, k)
    w = cast_like(reshape(1.2 + sin((1..numel(y)).^2*(0.7+k)), size(y)), y)
end

function y = at_changed(f, xs, k, i, h)
    changed = cell(numel(xs))
    for j = 0..numel(xs)-1
        changed[j] = xs[j]
    end
    if is_one_number(xs[k])
        changed[k] = xs[k] + h
    else
        changed[k] = copy(xs[k])
        changed[k][position_of(xs[k], i)] += h
    end
    y = apply(f, changed)
end

function x = wide(x)
    if is_smooth(x)
        x = is_one_number(x) ? x : iscomplex(x) ? x + complex(float64([0]), float64([0])) : float64(x)
    end
end

% Returns why the derivative cannot be compared with differences, or "".  For example, a second call of f may return
% another result.
function why = why_apart(f, xs, y)
    again = apply(f, xs)
    coarse = !is_one_number(y) && is_coarse(y)
    why = ""
    if any(as_row(y != again))
        why = "; the function gives something else each time: does it draw random numbers? give it these as an argument"
    elseif coarse
        why = "; its result is not float64, and differences are too coarse: compute in float64"
    end
end

function [worst, at, derivative, difference] = compared(f, xs, k, weights, d)
    worst = 0
    at = 0
    derivative = 0
    difference = 0
    x = xs[k]
    for i = 0..numel(x)-1
        value = is_one_number(x) ? x : x[position_of(x, i)]
        h = 6e-6*max(1, abs(value))
        n = (real_part(f, xs, k, i, h, weights) - real_part(f, xs, k, i, -h, weights))/(2*h)
        if iscomplex(x)
            n = n + 1j*(real_part(f, xs, k, i, h*1j, weights) - real_part(f, xs, k, i, -h*1j, weights))/(2*h)
        end
        a = is_one_number(d) ? d : d[position_of(d, i)]
        wrong = abs(a-n)/(1e-5*max(abs(a),abs(n)) + 1e-6)
        if wrong > worst || isnan(wrong)
            worst = isnan(wrong) ? inf : wrong
            at = i
            derivative = a
            difference = n
        end
    end
end

function r = real_part(f, xs, k, i, h, weights)
    y = at_changed(f, xs, k, i, h)
    r = real(sum(conj(weights).*y))
end

function good = gradcheck_of(f, arguments)
    xs = cell(numel(arguments))
    for j = 0..numel(xs)-1
        xs[j] = wide(arguments[j])
    end
    [y, pull] = apply(vjp, joined(f, xs))
    weights = is_one_number(y) ? 1 : uneven(y, 1)
    if iscomplex(y)
        weights = weights + 1j*(is_one_number(y) ? 0.7 : uneven(y, 2))
    end
    ds = pulled(pull, weights, numel(xs))
    for k = 0..numel(xs)-1
        if isnumeric(xs[k]) && !isint(xs[k]) && !isbool(xs[k])
            [wrong, i, a, n] = compared(f, xs, k, weights, ds[k])
            if wrong > 1
                error("gradcheck: argument ", k, ", element ", i, ": the derivative is ", a, ", differences give ", n, why_apart(f, xs, y))
            end
        end
    end
    good = true
end

function list = joined(f, xs)
    list = cell(numel(xs)+1)
    list[0] = f
    for i = 0..numel(xs)-1
        list[i+1] = xs[i]
    end
end

function ds = pulled(pull, dy, n)
    d = pull(dy)
    ds = n == 1 ? {d} : d
end
