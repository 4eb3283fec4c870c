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

% Function: linkage
% A tree of groups of points: the two nearest groups are joined until one is left. Source: Lance, Williams: A general
% theory of classificatory sorting strategies (1967).
%
% Parameters:
% x - a row for each point; or the distances of n points as a vec of n*(n-1)/2 numbers, of the points 0 and 1, 0 and 2,
%     …, 1 and 2, …, as scipy.spatial.distance.pdist gives them
% method - the distance of two groups: "single" (of their nearest points), "complete" (of their farthest ones),
%     "average", "weighted" (both parts of a group count equally), or for Euclidean distances "centroid", "median", "ward"
% metric - the distance of points: "euclidean", "cityblock" or "chebychev"
%
% Returns:
% Z - as scipy.cluster.hierarchy.linkage: a row [i, j, distance, number of points] for each join; groups 0 to n-1 are
%     points, and row k makes group n+k. MATLAB counts groups from 1 and does not return the last column
%
% See also: <fcluster>
function Z = linkage(x : mat, method : string = "single", metric : string = "euclidean")
    check_finite("linkage: x", x)
    D = size(x,0) == 1 ? linkage_square(float64(x)) : linkage_distances(float64(x), metric)
    n = size(D,0)
    assert(n > 0, "linkage: x must have at least one point, got size ", size(x))
    Z = zeros_like(D, n-1, 4)
    group = float64(0..n-1)
    count = ones_like(group)
    near = float64(zeros(n)) + inf
    who = zeros_like(near)
    for i = 0..n-1
        [near[i], who[i]] = min(D[i,:])
    end
    for k = 0..n-2
        [nearest, i] = min(near)
        j = who[i]
        [a, b, m] = {D[i,:], D[j,:], [count[i], count[j]]}
        Z[k,:] = [min(group[i], group[j]), max(group[i], group[j]), 0, sum(m)]
        Z[k,2] = nearest
        d = linkage_joined(method, a, b, nearest, m, count)
        d[i] = inf
        d = isinf(a) ? inf : d
        D[i,:] = d
        D[:,i] = transpose(d)
        D[j,:] = inf
        D[:,j] = inf
        near[j] = inf
        linkage_nearest(D, near, who, i, j)
        group[i] = n + k
        count[i] = sum(m)
    end
end

% Finds the nearest group of each group again, after group i has become the union of i and j.
function [] = linkage_nearest(D, near, who, i, j)
    for k = 0..numel(near)-1
        if k == i || (near[k] < inf && (who[k] == i || who[k] == j))
            [near[k], who[k]] = min(D[k,:])
        elseif D[k,i] < near[k] || (D[k,i] == near[k] && i < who[k])
            near[k] = D[k,i]
            who[k] = i
        end
    end
end

% The distances of all groups to the union of two groups with m points, whose distances are a, b and c.
function d = linkage_joined(method, a, b, c, m, count)
    [p, q] = {m[0], m[1]}
    match method with
    | "single" -> d = min(a, b)
    | "complete" -> d = max(a, b)
    | "average" -> d = (p*a + q*b)/(p + q)
    | "weighted" -> d = (a + b)/2
    | "centroid" -> d = sqrt(max((p*a.^2 + q*b.^2)/(p + q) - p*q*c^2/(p + q)^2, 0))
    | "median" -> d = sqrt(max((a.^2 + b.^2)/2 - c^2/4, 0))
    | "ward" -> d = sqrt(max(((count + p).*a.^2 + (count + q).*b.^2 - count*c^2)./(count + (p + q)), 0))
    | _ -> error("linkage: method must be single, complete, average, weighted, centroid, median or ward, got ", method)
    end
end

% The distances of points, inf on the diagonal.
function D = linkage_distances(x, metric)
    n = size(x,0)
    D = zeros_like(x, n, n)
    for k = 0..size(x,1)-1
        d = abs(x[:,k] - transpose(x[:,k]))
        match metric with
        | "euclidean" -> D = D + d.^2
        | "cityblock" -> D = D + d
        | "chebychev" -> D = max(D, d)
        | _ -> error("linkage: metric must be euclidean, cityblock or chebychev, got ", metric)
        end
    end
    D = metric == "euclidean" ? sqrt(D) : D
    for k = 0..n-1
        D[k,k] = inf
    end
end

% The same from the distances of pairs.
function D = linkage_square(d)
    n = round((1 + sqrt(1 + 8*numel(d)))/2)
    assert(numel(d) == n*(n-1)/2, "linkage: x must be a row for each point, or n*(n-1)/2 distances, got ", numel(d))
    D = zeros_like(d, n, n) + inf
    at = 0
    for i = 0..n-2
        row = d[at..at+n-i-2]
        D[i,i+1..n-1] = row
        D[i+1..n-1,i] = transpose(row)
        at += n-i-1
    end
end

% Function: fcluster
% The groups of points of a tree, as cluster of MATLAB and scipy.cluster.hierarchy.fcluster, whose default criterion is
% "inconsistent".
%
% Parameters:
% Z - the tree, see <linkage>
% t - the largest distance of a join within a group; or how many groups there are at most
% criterion - "distance" or "maxclust"
%
% Returns:
% T - the group of each point, from 0, in the order of the first points of groups
function T = fcluster(Z : mat, t : scalar, criterion : string = "distance")
    check_finite("fcluster: Z", Z)
    assert(size(Z,1) >= 3, "fcluster: Z must have columns i, j and distance, got size ", size(Z))
    n = size(Z,0) + 1
    Z = float64(Z)
    height = reshape(Z[:,2], [1,n-1])
    for k = 0..n-2 % of a join and the joins below it
        check_each("fcluster: Z must join groups that exist", Z[k,0..1], Z[k,0..1] >= 0 && Z[k,0..1] < n+k)
        for side = 0..1
            below = Z[k,side] - n
            height[k] = below >= 0 ? max(height[k], height[below]) : height[k]
        end
    end
    limit = t
    match criterion with
    | "distance" -> limit = t
    | "maxclust" ->
        check_whole("fcluster: t", t, 1)
        limit = t >= n ? -inf : sort(reshape(height, [1,n-1]))[n-1-t]
    | _ -> error("fcluster: criterion must be distance or maxclust, got ", criterion)
    end
    label = float64(-1 + zeros(2*n-1))
    next = 0
    for k = n-2..-1..0
        if label[n+k] < 0 && height[k] <= limit
            label[n+k] = n + k
        endif
        if label[n+k] >= 0
            label[Z[k,0]] = label[n+k]
            label[Z[k,1]] = label[n+k]
        endif
    end
    T = zeros_like(label, n)
    name = float64(-1 + zeros(2*n-1))
    for k = 0..n-1
        at = label[k] >= 0 ? label[k] : k
        if name[at] < 0
            name[at] = next
            next += 1
        endif
        T[k] = name[at]
    end
end

% A tree of points: node n has the children 2n and 2n+1, node 1 is the root, and the nodes from `leaves` on have `each`
% points of `order`, which are -1 behind the last point.  low and high are the corners of the box around each node.
function [x, order, low, high, leaves] = point_tree(x, each)
    [n, dims] = size(x, 0..1)
    leaves = 2^ceil(log2(max(n/each, 1)))
    each = ceil(n/leaves)
    order = horzcat(0..n-1, zeros(leaves*each - n)) % copies of point 0, which do not enlarge the boxes much
    copies = horzcat(zeros(n), ones(leaves*each - n))
    low = zeros_like(x, 2*leaves, dims)
    high = zeros_like(x, 2*leaves, dims)
    x = x[order,:]
    nodes = 1
    while true
        boxes = reshape(x, [nodes,leaves*each/nodes,dims])
        low[nodes..2*nodes-1,:] = reshape(min(boxes, [], 1), [nodes,dims])
        high[nodes..2*nodes-1,:] = reshape(max(boxes, [], 1), [nodes,dims])
        if nodes == leaves
            break
        endif
        extent = mean(high[nodes..2*nodes-1,:] - low[nodes..2*nodes-1,:], 0)
        dim = find_index_max(reshape(extent, [1,dims]))
        [_, i] = sort(boxes[:,:,dim], 1)
        i = reshape(i + transpose(0..nodes-1)*(leaves*each/nodes), [1,leaves*each])
        [x, order, copies] = {x[i,:], order[i], copies[i]}
        nodes = 2*nodes
    end
    order = int(where(copies, -1, order))
end

% The least distance of row `row` of y from the box of a node, with the roundings of pdist_at, so that no point is nearer.
function d = __device__ box_distance(y, row, low, high, node)
    d = 0.0
    for j = 0..size(y,1)-1
        e = max(max(low[node,j] - y[row,j], y[row,j] - high[node,j]), 0)
        d += e*e
    end
    d = sqrt(d)
end

% Finds the points that are nearest to each row of y, of equally near ones those with the lowest numbers.
function [] = __kernel__ knn_at(idx : mat'unchecked, d : mat'unchecked, y : mat'unchecked, x : mat'unchecked, _
                                order : vec[int]'unchecked, low : mat'unchecked, high : mat'unchecked, leaves : int, pos : int)
    last = size(idx,1)-1
    each = int(numel(order)/leaves)
    for m = 0..last
        d[pos,m] = inf
        idx[pos,m] = numel(order)
    end
    stack = zeros(32)
    apart = zeros(32)
    stack[0] = 1
    count = 1
    while count > 0
        count -= 1
        node = int(stack[count])
        if apart[count] <= d[pos,last]
            while node < leaves
                a = box_distance(y, pos, low, high, 2*node)
                b = box_distance(y, pos, low, high, 2*node+1)
                stack[count] = a <= b ? 2*node+1 : 2*node
                apart[count] = max(a, b)
                count += 1
                node = a <= b ? 2*node : 2*node+1
            end
            for p = (node-leaves)*each..(node-leaves+1)*each-1
                s = 0.0
                for j = 0..size(x,1)-1
                    e = y[pos,j] - x[p,j]
                    s += e*e
                end
                s = sqrt(s)
                i = order[p]
                if i >= 0 && (s < d[pos,last] || s == d[pos,last] && i < idx[pos,last])
                    m = last
                    while m > 0 && (s < d[pos,m-1] || s == d[pos,m-1] && i < idx[pos,m-1])
                        d[pos,m] = d[pos,m-1]
                        idx[pos,m] = idx[pos,m-1]
                        m -= 1
                    end
                    d[pos,m] = s
                    idx[pos,m] = i
                endif
            end
        endif
    end
end

function [] = __kernel__ knn_distance(d : mat'unchecked, y : mat'unchecked, x : mat'unchecked, idx : mat'unchecked, pos : ivec2)
    s = 0.0
    for j = 0..size(y,1)-1
        e = y[pos[0],j] - x[int(idx[pos]),j]
        s += e*e
    end
    d[pos] = sqrt(s)
end

% Function: knnsearch
% The k rows of x that are nearest to each row of y, of equally near ones the first ones. For many finite points, a tree of
% boxes finds them, for few rows of y or large k all distances are sorted.
%
% Returns:
% idx - the numbers of the rows, a row for each row of y, nearest first
% d - their distances
function [idx, d] = knnsearch(x : mat, y : mat, k : int = 1)
    assert(k >= 1 && k <= size(x,0), "knnsearch: k must be 1 to the number of rows of x, ", size(x,0), ", got ", k)
    [m, n] = {size(y,0), size(x,0)}
    assert(size(x,1) == size(y,1), "knnsearch: x and y must have as many columns, got sizes ", size(x), " and ", size(y))
    if m >= 32 && m*n >= 2^16 && n < 2^24 && k <= 64 && all(isfinite(x)) && all(isfinite(y))
        x = cast_like(x, y)
        [points, order, low, high, leaves] = point_tree(stop_gradient(x), 8)
        idx = zeros(m, k)
        near = zeros_like(y, m, k)
        parallel_do(m, idx, near, stop_gradient(y), points, order, low, high, int(leaves), knn_at)
        d = uninit_like(y, m, k)
        parallel_do([m,k], d, y, x, idx, knn_distance)
    else
        [s, i] = sort(pdist2(y, x), 1)
        idx = i[:,0..k-1]
        d = s[:,0..k-1]
    endif
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
