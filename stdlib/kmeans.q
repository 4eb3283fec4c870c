% Module: kmeans.q
% Groups of points.
import "check.q"

% Sets the nearest center of each point, and the square of its distance.
function [] = __kernel__ kmeans_assign(label : vec[int]'unchecked, distance : vec'unchecked, x : mat'unchecked, c : mat'unchecked, _
                                       pos : int)
    best = inf
    which = 0
    for k = 0..size(c,0)-1
        d = 0.0
        for j = 0..size(x,1)-1
            e = x[pos,j] - c[k,j]
            d += e*e
        end
        which = d < best ? k : which
        best = min(best, d)
    end
    label[pos] = which
    distance[pos] = best
end

% Returns the centers of the groups; the center of an empty group does not move.
function c = kmeans_centers(x, label, c)
    k = size(c,0)
    counts = bincount(label, k)
    next = copy(c)
    for j = 0..size(x,1)-1
        sums = bincount(label, k, reshape(x[:,j], [1,size(x,0)]))
        next[:,j] = reshape(counts > 0 ? sums./max(counts, 1) : reshape(c[:,j], [1,k]), [k,1])
    end
    c = next
end

% Centers far from each other: each is a point, drawn with a probability in proportion to its squared distance.
function c = kmeans_start(x, k)
    n = size(x,0)
    c = uninit_like(x, k, size(x,1))
    c[0,:] = x[randi(n),:]
    distance = zeros_like(float64([0]), n)
    near = zeros_like(distance) + inf
    label = vec[int](n)
    for i = 1..k-1
        parallel_do(n, label, distance, x, c[i-1,:], kmeans_assign)
        near = min(near, distance)
        sums = cumsum(near)
        draw = rand()*sums[n-1]
        c[i,:] = x[min(sum(sums <= draw), n-1),:]
    end
end

% Function: kmeans
% k groups of points, each point with the nearest center, by the iteration of Lloyd from centers that are drawn far from each
% other. Source: Arthur, Vassilvitskii: k-means++, the advantages of careful seeding (2007).
%
% Parameters:
% x - a row for each point
% k - how many groups
% start - k rows, where centers begin; null draws them
% replicates - how often it is tried with other draws; the best one is the result
% maxiter - the largest number of iterations
%
% Returns:
% idx - the group of each point, from 0
% C - the centers, a row each, in float64
% total - the sum of the squared distances of points to their centers
function [idx, C, total] = kmeans(x : mat, k : int, start = null, replicates = 1, maxiter = 300, ...more)
    if isstring(start)
        if numel(more) == 0 && isequal(maxiter, 300)
            maxiter = null
        endif
        [start, replicates, maxiter] = named_values("kmeans", {"Start","Replicates","MaxIter"}, start, replicates,
                                                    maxiter, ...more)
        [replicates, maxiter] = {isnull(replicates) ? 1 : replicates, isnull(maxiter) ? 300 : maxiter}
    else
        check_no_more("kmeans", more)
    endif
    check_whole("kmeans: maxiter", maxiter, 0)
    n = size(x,0)
    check_whole("kmeans: replicates", replicates, 1)
    check_whole("kmeans: maxiter", maxiter, 1)
    assert(k >= 1 && k <= n, "kmeans: k must be 1 to the number of points, ", n, ", got ", k)
    check_finite("kmeans: x", x)
    if !isnull(start)
        assert(isequal(size(start), [k,size(x,1)]), "kmeans: start must have size ", [k,size(x,1)], ", got ", size(start))
    endif
    points = float64(x)
    total = inf
    idx = vec[int](n)
    C = mat[float64](k, size(x,1))
    for turn = 1..replicates
        c = isnull(start) ? kmeans_start(points, k) : float64(copy(start))
        label = vec[int](n)
        distance = zeros_like(float64([0]), n)
        steps = 0
        going = true
        while going
            before = label
            label = vec[int](n)
            parallel_do(n, label, distance, points, c, kmeans_assign)
            steps += 1
            going = steps < maxiter && (steps == 1 || !isequal(label, before))
            if going
                c = kmeans_centers(points, label, c)
            endif
        end
        if sum(distance) < total
            total = sum(distance)
            idx = float64(label)
            C = c
        endif
    end
end

% Function: pdist2
% The distances of all rows of a to all rows of b.
function d = pdist2(a : mat, b : mat)
    assert(size(a,1) == size(b,1), "pdist2: a and b must have as many columns, got sizes ", size(a), " and ", size(b))
    d = uninit_like(a, size(a,0), size(b,0))
    parallel_do(size(d, 0..1), d, a, cast_like(b, a), pdist_at)
end

function [] = __kernel__ pdist_at(d : mat'unchecked, a : mat'unchecked, b : mat'unchecked, pos : ivec2)
    s = 0.0
    for j = 0..size(a,1)-1
        e = a[pos[0],j] - b[pos[1],j]
        s += e*e
    end
    d[pos] = sqrt(s)
end

% Function: knnsearch
% The k rows of x that are nearest to each row of y.
%
% Returns:
% idx - the numbers of the rows, a row for each row of y, nearest first
% d - their distances
function [idx, d] = knnsearch(x : mat, y : mat, k : int = 1)
    assert(k >= 1 && k <= size(x,0), "knnsearch: k must be 1 to the number of rows of x, ", size(x,0), ", got ", k)
    [s, i] = sort(pdist2(y, x), 1)
    idx = i[:,0..k-1]
    d = s[:,0..k-1]
end

% Function: pca
% The principal components of points.
%
% Parameters:
% x - a row for each point
%
% Returns:
% coeff - a column for each component, of length 1, the one with the largest variance first
% score - the coordinates of the points along them
% latent - the variances
function [coeff, score, latent] = pca(x : mat)
    assert(size(x,0) > 1, "pca: x must have at least 2 rows, got size ", size(x))
    v = float64(x)
    v = v - mean(v, 0)
    [U, S, V] = svd(v)
    coeff = V
    score = v*V
    latent = diag(S).^2/(size(x,0)-1)
end
