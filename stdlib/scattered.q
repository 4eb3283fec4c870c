% Module: scattered.q
% Points in the plane without an order: triangles, and interpolation.
import "kmeans.q"
import "matfun.q"

% Adds a*b to the sum s + e + r without rounding the product, in three times the precision. Source: Ogita, Rump and Oishi:
% Accurate sum and dot product (2005).
function [s, e, r] = __device__ with_product(s, e, r, a, b)
    p = a*b
    t = 134217729*a
    ah = t - (t - a)
    al = a - ah
    t = 134217729*b
    bh = t - (t - b)
    bl = b - bh
    [s, e, r] = with_term(s, e, r, p)
    [s, e, r] = with_term(s, e, r, al*bl - (((p - ah*bh) - al*bh) - ah*bl))
end

function [s, e, r] = __device__ with_term(s, e, r, v)
    t = s + v
    z = t - s
    error_ = (s - (t - z)) + (v - z)
    s = t
    t = e + error_
    z = t - e
    r += (e - (t - z)) + (error_ - z)
    e = t
end

% Positive if the points a, b, c turn clockwise in a plane whose y points up, 0 if they are on a line. The sign is right
% for points that are nearly on a line, too: otherwise the hull would lose points.
function v = __device__ turn_of(x, y, a : int, b : int, c : int)
    l = (y[b] - y[a])*(x[c] - x[b])
    r = (x[b] - x[a])*(y[c] - y[b])
    v = l - r
    if abs(v) <= 4e-16*(abs(l) + abs(r))
        s = 0*l
        e = 0*l
        t = 0*l
        [s, e, t] = with_product(s, e, t, y[b], x[c])
        [s, e, t] = with_product(s, e, t, -y[a], x[c])
        [s, e, t] = with_product(s, e, t, y[a], x[b])
        [s, e, t] = with_product(s, e, t, -x[b], y[c])
        [s, e, t] = with_product(s, e, t, x[a], y[c])
        [s, e, t] = with_product(s, e, t, -x[a], y[b])
        v = s + (e + t)
    endif
end

% Whether p is inside the circle through a, b and c.
function v = __device__ inside_circle(x, y, a : int, b : int, c : int, p : int)
    dx = x[a] - x[p]
    dy = y[a] - y[p]
    ex = x[b] - x[p]
    ey = y[b] - y[p]
    fx = x[c] - x[p]
    fy = y[c] - y[p]
    ap = dx*dx + dy*dy
    bp = ex*ex + ey*ey
    cp = fx*fx + fy*fy
    v = dx*(ey*cp - bp*fy) - dy*(ex*cp - bp*fx) + ap*(ex*fy - ey*fx) < 0
end

% Returns the entry of the hull's table, 0 to count-1, for a direction from the middle.
function k = __device__ hull_key(dx, dy, count : int)
    s = dx/max(abs(dx) + abs(dy), 1e-300)
    k = min(int(floor(count*(dy > 0 ? 3-s : 1+s)/4)), count-1)
end

% Makes e and f the same edge of two triangles; -1 is the outside of the hull.
function [] = __device__ join_edges(opposite, e : int, f : int)
    if e >= 0
        opposite[e] = f
    endif
    if f >= 0
        opposite[f] = e
    endif
end

% Returns a point of the hull in about the direction of the entry `key` of its table; `hull`: any point of the hull.
function p = __device__ hull_point(hash, after, key : int, hull : int)
    p = -1
    tries = 0
    while p < 0 && tries < numel(hash)
        h = hash[mod(key + tries, numel(hash))]
        if h >= 0 && after[h] != h
            p = h
        endif
        tries += 1
    end
    p = p < 0 ? hull : p
end

% Returns the first edge of the hull from `first` on that the point p sees, by the point where it begins; -1: none.
function e = __device__ seen_edge(x, y, after, p : int, first : int)
    e = first
    while e >= 0 && turn_of(x, y, p, e, after[e]) >= 0
        e = after[e] == first ? -1 : after[e]
    end
end

% Flips edges, from the edge c on, until no circle of a triangle contains the opposite corner of a neighbour. Returns the
% edge before the last one that was examined.
function last = __device__ flip_edges(x, y, T, opposite, edge, before, stack, hull : int, c : int)
    depth = 0
    last = c
    while c >= 0
        d = opposite[c]
        c0 = c - mod(c, 3)
        last = c0 + mod(c+2, 3)
        d0 = d - mod(d, 3)
        dl = d0 + mod(d+2, 3)
        if d >= 0 && inside_circle(x, y, T[last], T[c], T[c0 + mod(c+1, 3)], T[dl])
            T[d] = T[last]
            T[c] = T[dl]
            far = opposite[dl]
            if far < 0
                s = hull
                steps = 0
                while steps < numel(edge)
                    if edge[s] == dl
                        edge[s] = c
                        steps = numel(edge)
                    endif
                    s = before[s]
                    steps += 1
                end
            endif
            join_edges(opposite, c, far)
            join_edges(opposite, d, opposite[last])
            join_edges(opposite, last, dl)
            stack[depth] = d0 + mod(d+1, 3)
            depth += 1
        else
            depth -= 1
            c = depth < 0 ? -1 : stack[max(depth, 0)]
        endif
    end
end

% Triangulates points, which `order` sorts by their distance from the middle of the circle through the first three. The
% corners of triangle k are T[3*k..3*k+2]; edge e leads from T[e] to the next corner, and opposite[e] is the same edge
% of the neighbour, -1 at the hull. The hull is a ring: after, before, and the edge to the next point. Returns the
% number of corners. Source: Sinclair: S-hull, a fast sweep-hull routine for Delaunay triangulation (2016).
function n = delaunay_sweep(x : vec[float64], y : vec[float64], order : vec[int], T : vec[int], opposite : vec[int], _
                            mx : scalar, my : scalar)
    count = numel(order)
    size_ = numel(x)
    bins = int(ceil(sqrt(count)))
    hash = vec[int](bins)
    stack = vec[int](numel(T))
    before = vec[int](size_)
    after = vec[int](size_)
    edge = vec[int](size_)
    for k = 0..bins-1
        hash[k] = -1
    end
    for k = 0..2
        p = order[k]
        T[k] = p
        opposite[k] = -1
        after[p] = order[mod(k+1, 3)]
        before[p] = order[mod(k+2, 3)]
        edge[p] = k
        hash[hull_key(x[p]-mx, y[p]-my, bins)] = p
    end
    n = 3
    hull = order[0]
    for k = 3..count-1
        p = order[k]
        key = hull_key(x[p]-mx, y[p]-my, bins)
        first = before[hull_point(hash, after, key, hull)]
        e = seen_edge(x, y, after, p, first)
        if e >= 0
            % A triangle for each edge of the hull that the point sees: the edge e, those after it, those before it.
            a = e
            b = after[e]
            next = b
            phase = 0
            while phase < 3
                add = phase == 0 || turn_of(x, y, p, a, b) < 0
                if add
                    t = n
                    n += 3
                    T[t] = a
                    T[t+1] = p
                    T[t+2] = b
                    join_edges(opposite, t, phase == 1 ? edge[p] : -1)
                    join_edges(opposite, t+1, phase == 2 ? edge[b] : -1)
                    join_edges(opposite, t+2, edge[a])
                    if phase != 1
                        edge[a] = t
                    endif
                    last = flip_edges(x, y, T, opposite, edge, before, stack, hull, t+2)
                    if phase < 2
                        edge[p] = last
                    endif
                endif
                if phase == 0
                    phase = 1
                    a = next
                    b = after[next]
                elseif phase == 1
                    if add
                        after[next] = next
                        next = b
                        a = b
                        b = after[b]
                    else
                        phase = e == first ? 2 : 3
                        b = e
                        a = before[e]
                    endif
                else
                    if add
                        after[e] = e
                        e = a
                        b = a
                        a = before[a]
                    else
                        phase = 3
                    endif
                endif
            end
            hull = e
            before[p] = e
            after[e] = p
            before[next] = p
            after[p] = next
            hash[key] = p
            hash[hull_key(x[e]-mx, y[e]-my, bins)] = e
        endif
    end
end

% The first triangle: a point near the middle, the point nearest to it, and the one that makes the smallest circle.
function [seed, mx, my] = delaunay_seed(x, y)
    d = (x - (min(x) + max(x))/2).^2 + (y - (min(y) + max(y))/2).^2
    a = find_index_min(d)
    d = (x - x[a]).^2 + (y - y[a]).^2
    b = find_index_min(d > 0 ? d : inf)
    dx = x[b] - x[a]
    dy = y[b] - y[a]
    ex = x - x[a]
    ey = y - y[a]
    area = dx*ey - dy*ex
    flat = abs(area) <= 1e-14*(dx^2 + dy^2 + ex.^2 + ey.^2)
    B = dx^2 + dy^2
    C = ex.^2 + ey.^2
    u = flat ? inf : (ey*B - dy*C)./(2*area)
    v = flat ? inf : (dx*C - ex*B)./(2*area)
    c = find_index_min(u.^2 + v.^2)
    assert(isfinite(u[c]), "delaunay: points must not be on one line")
    mx = x[a] + u[c]
    my = y[a] + v[c]
    seed = area[c] > 0 ? [a,c,b] : [a,b,c]
end

% Function: delaunay
% The triangles of points in the plane such that the circle of no triangle contains another point. Points that occur
% twice take part once. Source: Sinclair: S-hull, a fast sweep-hull routine for Delaunay triangulation (2016).
%
% Parameters:
% points - N x 2
%
% Returns:
% T - a row with three numbers of points for each triangle
% opposite - element [k,i] belongs to the edge from corner i of triangle k to the next corner: it is 3*m + j for the
%     edge from corner j of the neighbour m, or -1 at the hull
%
% :function [T, opposite] = delaunay(points : mat)
function [T, opposite] = delaunay(points : mat)
    check_finite("delaunay: points", points)
    assert(size(points,1) == 2 && size(points,0) >= 3, _
           "delaunay: points must be N x 2, at least 3, got size ", size(points))
    n = size(points,0)
    x = reshape(float64(points[:,0]), [1,n])
    y = reshape(float64(points[:,1]), [1,n])
    [seed, mx, my] = delaunay_seed(x, y)
    d = (x - mx).^2 + (y - my).^2
    d[seed] = -1
    [_, order] = sort(d)
    order[0..2] = seed
    T = vec[int](6*n)
    opposite = vec[int](6*n)
    used = delaunay_sweep(x, y, int(order), T, opposite, mx, my)
    T = reshape(T[0..used-1], [used/3,3])
    opposite = reshape(opposite[0..used-1], [used/3,3])
end

% Finds the nearest point in a grid of square cells, ring after ring around the cell of q.
function [] = __kernel__ nearest_in_cells(label : vec[int]'unchecked, q : mat'unchecked, p : mat'unchecked, _
                                          start : vec[int]'unchecked, order : vec[int]'unchecked, rows : int, _
                                          columns : int, low : vec'unchecked, cell_ : vec'unchecked, pos : int)
    u = q[pos,0]
    v = q[pos,1]
    i = int(clamp(floor((u - low[0])/cell_[0]), 0, rows-1))
    j = int(clamp(floor((v - low[1])/cell_[0]), 0, columns-1))
    best = inf
    which = 0
    r = 0
    while r < max(rows, columns) && (r == 0 || best > (r-1)*cell_[0]*((r-1)*cell_[0]))
        for m = max(i-r, 0)..min(i+r, rows-1)
            border = m == i-r || m == i+r
            for n = max(j-r, 0)..min(j+r, columns-1)
                if border || n == j-r || n == j+r
                    for k = start[m*columns+n]..start[m*columns+n+1]-1
                        a = p[order[k],0] - u
                        b = p[order[k],1] - v
                        d = a*a + b*b
                        which = d < best ? order[k] : which
                        best = min(best, d)
                    end
                endif
            end
        end
        r += 1
    end
    label[pos] = which
end

% The number of the nearest point of p for each row of q.
function label = nearest_points(p, q)
    n = size(p,0)
    label = vec[int](size(q,0))
    if size(p,1) != 2
        parallel_do(size(q,0), label, zeros_like(q, size(q,0)), q, p, kmeans_assign)
    else
        low = min(p, [], 0)
        extent = max(p, [], 0) - low
        side = max(sqrt(extent[0]*extent[1]*2/n), max(max(extent)/n, 1e-300))
        counts = floor(extent/side) + 1
        at = min(floor((p - low)/side), counts - 1)
        number = reshape(at[:,0]*counts[1] + at[:,1], [1,n])
        [_, order] = sort(number)
        start = horzcat(float64([0]), cumsum(bincount(number, prod(counts))))
        parallel_do(size(q,0), label, q, p, int(start), int(order), int(counts[0]), int(counts[1]), _
                    reshape(low, [1,2]), float64([side]), nearest_in_cells)
    endif
end

% Projects q and the third corner on the longest edge of a triangle whose corners a, b and c (relative to q) lie on a line.
% Returns their positions along the edge (0 to 1), the number of the edge, and whether q is on it.
function [along, middle, longest, touches] = __device__ on_line(a : vec2, b : vec2, c : vec2)
    ab = sum((b-a).^2)
    bc = sum((c-b).^2)
    ca = sum((a-c).^2)
    longest = ab >= bc && ab >= ca ? 0 : bc >= ca ? 1 : 2
    first = longest == 0 ? a : longest == 1 ? b : c
    last = longest == 0 ? b : longest == 1 ? c : a
    third = longest == 0 ? c : longest == 1 ? a : b
    d = last - first
    long = max(sum(d.^2), 1e-300)
    along = -sum(first.*d)/long
    middle = sum((third-first).*d)/long
    touches = abs(first[0]*d[1] - first[1]*d[0]) <= 1e-12*long && along >= -1e-12 && along <= 1+1e-12
end

% The triangle of each position q, and the weights of its corners; the triangle is -1 outside. The walk starts at the
% triangle `near` and goes through the edge that q is farthest beyond. It crosses triangles whose corners lie on a line,
% which have no weights, from one side to the other; on the hull q is between two of their corners.
function [] = __kernel__ triangle_of(found : vec[int]'unchecked, w : mat'unchecked, q : mat'unchecked, _
                                     p : mat'unchecked, T : mat[int]'unchecked, opposite : mat[int]'unchecked, _
                                     near : vec[int]'unchecked, pos : int)
    t = near[pos]
    u = q[pos,0]
    v = q[pos,1]
    steps = 0
    entered = -1
    searching = 1
    while searching > 0 && steps < 3*size(T,0)
        a = [p[T[t,0],0] - u, p[T[t,0],1] - v]
        b = [p[T[t,1],0] - u, p[T[t,1],1] - v]
        c = [p[T[t,2],0] - u, p[T[t,2],1] - v]
        wc = a[0]*b[1] - a[1]*b[0]
        wa = b[0]*c[1] - b[1]*c[0]
        wb = c[0]*a[1] - c[1]*a[0]
        area = wa + wb + wc
        flat = abs(area) <= 1e-12*max(sum((b-a).^2), max(sum((c-b).^2), sum((a-c).^2)))
        scale = flat ? 0.0 : 1/area
        wa *= scale
        wb *= scale
        wc *= scale
        least = min(wa, min(wb, wc))
        edge = wc == least ? 0 : wa == least ? 1 : 2
        inside = !flat && !(least < -1e-12)
        if flat
            [along, middle, longest, touches] = on_line(a, b, c)
            short = along < middle ? mod(longest+2, 3) : mod(longest+1, 3)
            edge = entered == longest ? short : longest
            edge = entered < 0 && opposite[t,edge] < 0 ? short : edge      % the walk begins here, at the hull
            edge = entered < 0 && opposite[t,edge] < 0 ? mod(longest+1, 3) : edge
            edge = entered < 0 && opposite[t,edge] < 0 ? mod(longest+2, 3) : edge
            if opposite[t,edge] < 0 && touches
                part = along < middle ? along/max(middle, 1e-300) : (1-along)/max(1-middle, 1e-300)
                part = clamp(part, 0, 1)
                end_of = along < middle ? longest : mod(longest+1, 3)
                wa = end_of == 0 ? 1-part : mod(longest+2, 3) == 0 ? part : 0.0
                wb = end_of == 1 ? 1-part : mod(longest+2, 3) == 1 ? part : 0.0
                wc = end_of == 2 ? 1-part : mod(longest+2, 3) == 2 ? part : 0.0
                inside = true
            endif
        endif
        if inside
            searching = 0
            w[pos,0] = wa
            w[pos,1] = wb
            w[pos,2] = wc
        else
            through = opposite[t,edge]
            searching = through < 0 ? 0 : 1
            entered = through < 0 ? -1 : mod(through, 3)
            t = through < 0 ? -1 : int(through/3)
        endif
        steps += 1
    end
    found[pos] = searching > 0 || isnan(u + v) ? -1 : t
end

% Function: griddata
% Values at scattered points, interpolated at other positions, as scipy.interpolate.griddata. It has derivatives with
% respect to the values. For values on a grid see interpn.
%
% Parameters:
% points - a row for each point
% values - a real number for each point
% at - a row for each position
% method - "linear": between the corners of the triangle of delaunay that contains the position, for points in the
%     plane; "nearest": the value of the nearest point
% outside - the value of positions outside of all triangles, for "linear"
%
% Returns:
% v - a vec with an element for each row of at, nan where the row is not finite
%
% See also: <delaunay>
%
% :function v = griddata(points : mat, values, at : mat, method : string = "linear", outside : scalar = nan)
function v = griddata(points : mat, values, at : mat, method : string = "linear", outside : scalar = nan)
    check_finite("griddata: points", points)
    check_filled("griddata: points", points)
    assert(check_real(values) && numel(values) == size(points,0), _
           "griddata: values must be a real number for each of ", size(points,0), " points, got ", check_got(values))
    assert(check_real(at) && size(at,1) == size(points,1), _
           "griddata: at must be real and have as many columns as points, ", size(points,1), ", got size ", size(at))
    assert(method == "linear" || method == "nearest", "griddata: method must be linear or nearest, got ", method)
    assert(method == "nearest" || size(points,1) == 2, _
           "griddata: points must be N x 2 for linear, got size ", size(points))
    p = float64(points)
    q = float64(at)
    z = reshape(values, [1,numel(values)])
    near = nearest_points(p, q)
    missing = reshape(sum(!isfinite(q), 1) > 0, [1,-1])
    if method == "nearest"
        v = any(missing) ? where(missing, nan, z[near]) : z[near]
    else
        [T, opposite] = delaunay(p)
        count = size(T,0)
        touching = zeros_like(int([0]), size(p,0))
        size_of = float64(zeros(size(p,0)))
        for k = 0..count-1                          % the largest triangle of each point
            a = T[k,0]
            b = T[k,1]
            c = T[k,2]
            area = abs((p[b,0]-p[a,0])*(p[c,1]-p[a,1]) - (p[b,1]-p[a,1])*(p[c,0]-p[a,0]))
            for i = 0..2
                if area >= size_of[T[k,i]]
                    size_of[T[k,i]] = area
                    touching[T[k,i]] = k
                endif
            end
        end
        found = vec[int](size(q,0))
        w = zeros_like(q, size(q,0), 3)
        parallel_do(size(q,0), found, w, q, p, T, opposite, touching[near], triangle_of)
        corners = T[max(found, 0),:]
        column = k -> reshape(z[reshape(corners[:,k], [1,-1])], [1,-1]).*reshape(w[:,k], [1,-1])
        v = where(found >= 0, column(0) + column(1) + column(2), outside)
        v = any(missing) ? where(missing, nan, v) : v
    endif
end

% The corners of the convex hull among points that are sorted by x and y, counter-clockwise: their positions in list.
function n = hull_corners(x : vec[float64], y : vec[float64], list : vec[int])
    n = 0
    total = numel(x)
    least = 2
    for k = 0..2*total-2
        i = k < total ? k : 2*total-2-k
        if k == total
            least = n+1
        endif
        while n >= least &&
            (x[list[n-1]]-x[list[n-2]])*(y[i]-y[list[n-2]]) - (y[list[n-1]]-y[list[n-2]])*(x[i]-x[list[n-2]]) <= 0
            n -= 1
        end
        if n == 0 || x[list[n-1]] != x[i] || y[list[n-1]] != y[i]
            list[n] = i
            n += 1
        endif
    end
end

% Function: convhull
% The convex hull of points in the plane. Source: Andrew: Another efficient algorithm for convex hulls in two dimensions
% (1979).
%
% Parameters:
% x, y - the coordinates, or x alone a matrix with a row [x, y] for each point
%
% Returns:
% k - the positions of the corners in the list of points from 0 on, counter-clockwise for y upwards, the first again as
%     the last, as in MATLAB; points on an edge are no corners (scipy.spatial.ConvexHull has the corners as vertices,
%     without the repetition)
% area - the area of the hull
function [k, area] = convhull(x, y = null)
    if isnull(y)
        assert(check_real(x) && ndims(x) <= 2 && size(x,1) == 2,
               "convhull: x must be a matrix of rows [x, y], or give x and y, got ", _
               isnumeric(x) ? size(x) : type(x))
        [x, y] = {x[:,0], x[:,1]}
    endif
    check_finite("convhull: x", x)
    check_finite("convhull: y", y)
    n = numel(x)
    assert(numel(y) == n, "convhull: x and y must have one size, got ", size(x), " and ", size(y))
    [x, y] = {float64(reshape(x, [1,n])), float64(reshape(y, [1,n]))}
    [_, order] = sortrows(transpose(vertcat(x, y)))
    list = vec[int](2*n+1)
    count = hull_corners(x[order], y[order], list)
    assert(count >= 4, "convhull: x and y must have three points that are not on one line")
    k = float64(order[list[0..count-1]])
    [a, b] = {x[k] - x[k[0]], y[k] - y[k[0]]}
    area = 0.5*sum(a[0..count-2].*b[1..count-1] - a[1..count-1].*b[0..count-2])
end

% Function: inpolygon
% Whether points are inside of a polygon, or on its border: a horizontal line from the point crosses the border an odd
% number of times.
%
% Parameters:
% xq, yq - coordinates of the points, of one size
% xv, yv - the corners of the polygon in order; the last is joined to the first
%
% Returns:
% in - a mask of the size of xq, with the points on the border, as in MATLAB
% on - those on the border (matplotlib.path leaves them open)
function [in, on] = inpolygon(xq, yq, xv, yv)
    for c = {xq, yq, xv, yv}
        check_finite("inpolygon: xq, yq, xv and yv", c)
    end
    check_alike("inpolygon: xq and yq", xq, yq)
    n = numel(xv)
    assert(numel(yv) == n && n > 0, "inpolygon: xv and yv must have one size and elements, got ", size(xv), " and ",
           size(yv))
    [x, y, a, b] = {float64(xq), float64(yq), float64(reshape(xv, [1,n])), float64(reshape(yv, [1,n]))}
    crossings = 0*x
    border = 0*x
    for i = 0..n-1
        j = mod(i+1, n)
        [ax, ay, bx, by] = {a[i] - x, b[i] - y, a[j] - x, b[j] - y}
        turn = ax.*by - ay.*bx
        border = border + ((turn == 0 && ax.*bx <= 0 && ay.*by <= 0) ? 1 : 0)
        crossings = crossings + ((ay > 0) != (by > 0) && (turn > 0) == (by > ay) ? 1 : 0)
    end
    on = border > 0
    in = on || mod(crossings, 2) == 1
end
