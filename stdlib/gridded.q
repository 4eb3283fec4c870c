% Module: gridded.q
% Interpolation of values on a grid of any number of dimensions.
import "check.q"

% Adds up the values around a point with the weights w: 2^bits neighbours along each dimension, the first at `start`.
function [] = __kernel__ gridded_sum(y : vec'unchecked, z : vec'unchecked, start : mat[int]'unchecked, _
                                     w : mat'unchecked, strides : vec[int]'unchecked, bits : int, pos : int)
    last = size(start,1) - 1
    m = shl(1, bits)
    s = 0.0
    for c = 0..shl(1, bits*last)-1
        f = 1.0
        p = start[pos,last]
        for k = 0..last-1
            j = and(shr(c, k*bits), m-1)
            f *= w[pos, k*m+j]
            p += (start[pos,k] + j)*strides[k]
        end
        t = 0.0
        for j = 0..m-1
            t += w[pos, last*m+j]*z[p+j]
        end
        s += f*t
    end
    y[pos] = s
end

% The interval of the ascending points x that holds each element of a; elements outside belong to the first or last one.
function s = gridded_interval(x, a)
    s = min(interp1(x, float64(0..numel(x)-1), a, "previous", "clamp"), numel(x)-2)
end

% The first neighbour of each element of a among the points x, and the weights of the neighbours, a column each.
function [start, w] = gridded_linear(x, a)
    start = gridded_interval(x, a)
    left = x[start]
    t = (a - left)./(x[start+1] - left)
    w = horzcat(transpose(1-t), transpose(t))
end

function [start, w] = gridded_nearest(x, a)
    start = gridded_interval(x, a)
    start = start + (a - x[start] > x[start+1] - a)
    w = transpose(ones_like(a))
end

% The cubic B-splines of the knots x without the second and the last but one (not-a-knot), by the recurrence of de Boor.
function [start, w] = gridded_cubic(x, a)
    n = numel(x)
    breaks = horzcat(x[0..0], n > 4 ? x[2..n-3] : [], x[n-1..n-1])
    start = gridded_interval(breaks, a)
    knots = horzcat(repmat(x[0..0], [1,3]), breaks, repmat(x[n-1..n-1], [1,3]))
    N = {ones_like(a), 0, 0, 0}
    for j = 1..3
        saved = 0
        for r = 0..j-1
            above = knots[start+(4+r)] - a
            below = a - knots[start+(4+r-j)]
            part = N[r]./(above + below)
            N[r] = saved + above.*part
            saved = below.*part
        end
        N[j] = saved
    end
    w = transpose(vertcat(N[0], N[1], N[2], N[3]))
end

% Replaces values by the coefficients of the splines along dimension k.
function c = gridded_coefficients(z, x, k)
    n = numel(x)
    [start, w] = gridded_cubic(x, x)
    M = zeros_like(w, n, n)
    for i = 0..n-1
        M[i, start[i]..start[i]+3] = w[i,:]
    end
    moved = moveaxis(z, k, 0)
    c = moveaxis(reshape(solve(M, reshape(moved, [n,-1])), size(moved)), 0, k)
end

% The coordinates of the grid as a cell of vecs: `points`, or 0, 1, 2 … along each dimension of z.
function x = gridded_points(points, z, d, least)
    rows = check_real(points) && size(points,0) == d && ndims(points) <= 2
    assert(isnull(points) || rows || iscell(points) && numel(points) == d, _
           "interpn: points must be null, or a cell or the rows of a matrix with a vec for each of ", d, _
           " columns of at, got ", check_got(points))
    x = cell(d)
    for k = 0..d-1
        n = size(z, k)
        own = isnull(points) ? float64(0..n-1) : rows ? points[k,:] : points[k]
        check_finite("interpn: points", own)
        assert(numel(own) == n, "interpn: points[", k, "] must have ", n, " elements, as dimension ", k, _
               " of z, got ", numel(own))
        assert(n >= least, "interpn: z must have at least ", least, " elements along each dimension, got ", n)
        x[k] = reshape(float64(own), [1,n])
        assert(all(diff(x[k]) > 0), "interpn: points[", k, "] must ascend, got ", own)
    end
end

% Function: interpn
% The values z on a grid of any number of dimensions, interpolated at other positions, as scipy.interpolate.interpn. It
% has derivatives with respect to z, and to `at` except for "nearest". For vectors see interp1, for matrices interp2.
%
% Parameters:
% points - a cell with the coordinates of the grid along each dimension, ascending, or a matrix with them as rows; null
%     counts them from 0
% z - a real array of as many dimensions; a vec has one
% at - a row for each position, with a column for each dimension
% method - "linear", "nearest", or "cubic" (also "spline"; not-a-knot, at least four points along each dimension)
% outside - nan or another number for positions outside of the grid, "clamp" (the edge) or "extrap"
%
% Returns:
% v - a vec with an element for each row of at
%
% :function v = interpn(points, z, at : mat, method : string = "linear", outside = nan)
function v = interpn(points, z, at : mat, method : string = "linear", outside = nan)
    rules = object(nearest := gridded_nearest, linear := gridded_linear, cubic := gridded_cubic, _
                   spline := gridded_cubic)
    assert(isfield(rules, method), "interpn: method must be linear, nearest, cubic or spline, got ", method)
    rule = rules[method]
    bits = rule == gridded_nearest ? 0 : rule == gridded_linear ? 1 : 2
    [count, d] = size(at, 0..1)
    assert(check_real(z) && check_real(at), "interpn: z and at must be real, got ", type(z), " and ", type(at))
    z = d == 1 ? reshape(z, [numel(z),1]) : z
    z = isint(z) || isbool(z) ? float64(z) : z
    assert(prod(size(z, 0..d-1)) == numel(z), _
           "interpn: at must have a column for each dimension of z, ", ndims(z), ", got size ", size(at))
    assert(isstring(outside) ? outside == "clamp" || outside == "extrap" : isscalar(outside), _
           "interpn: outside must be a number, clamp or extrap, got ", isstring(outside) ? outside : check_got(outside))
    x = gridded_points(points, z, d, bits == 2 ? 4 : 2)
    beyond = zeros(1, count) > 0
    unknown = beyond
    start = zeros_like(int([0]), count, d)
    columns = cell(d)
    strides = zeros_like(int([0]), d)
    step = 1
    for k = d-1..-1..0
        strides[k] = step
        step = step*size(z, k)
        a = reshape(float64(at[:,k]), [1,count])
        last = x[k][numel(x[k])-1]
        beyond = beyond || !(a >= x[k][0] && a <= last)
        unknown = unknown || isnan(a)
        if isstring(outside) && outside == "clamp"
            a = clamp(a, x[k][0], last)
        endif
        [first, columns[k]] = rule(x[k], a)
        start[:,k] = transpose(int(first))
        if bits == 2
            z = gridded_coefficients(float64(z), x[k], k)
        endif
    end
    w = horzcat(...columns)
    v = uninit_like(z, count)
    parallel_do(count, v, reshape(z, [1,numel(z)]), start, w, strides, bits, gridded_sum)
    v = isstring(outside) ? v : where(beyond, outside, v)
    v = any(unknown) ? where(unknown, nan, v) : v
end
