% Module: imcircles.q
% Circles in images.
import "edges.q"
import "imanalysis.q"
import "matfun.q"

% Positions [row, column] of the pixels of a circle around 0. Source: Bresenham: Algorithm for computer control of a
% digital plotter (1965); pixels on the axes and diagonals occur twice, as in skimage.draw.circle_perimeter.
function p = circle_pixels(radius)
    list = {}
    [c, r, d] = {0, radius, 3 - 2*radius}
    while r >= c
        append(list, [[r,c],[-r,c],[r,-c],[-r,-c],[c,r],[-c,r],[c,-r],[-c,-r]])
        if d < 0
            d += 4*c + 6
        else
            d += 4*(c - r) + 10
            r -= 1
        endif
        c += 1
    end
    p = vertcat(...list)
end

function [] = circle_votes(H : vec[float64], w : int, at : vec[int], steps : vec[int], share : scalar)
    for i = 0..numel(at)-1
        for k = 0..numel(steps)-1
            H[at[i]+steps[k]] += share
        end
    end
end

% Function: hough_circle
% The transform of Hough for circles, as skimage.transform.hough_circle.
%
% Parameters:
% bw - a mask of edges, e.g. from canny
% radii - radii in pixels, integers
% normalize - whether votes are shares of the pixels of a circle
%
% Returns:
% H - H[i,j,k]: how many pixels of the mask are on the circle around [i,j] with radius radii[k]
function H = hough_circle(bw : mat, radii, normalize = true)
    check_filled("hough_circle: radii", radii)
    check_finite("hough_circle: radii", radii)
    check_each("hough_circle: radii must be integers of at least 0", radii, radii >= 0 && radii == floor(radii))
    radii = reshape(radii, [1,numel(radii)])
    [rows, columns] = size(bw, 0..1)
    n = max(radii)
    w = columns + 2*n
    [r, c] = find(bw)
    at = int(reshape((r + n)*w + c + n, [1,numel(r)]))
    H = zeros_like(float64([0]), rows, columns, numel(radii))
    for k = 0..numel(radii)-1
        p = circle_pixels(radii[k])
        steps = int(reshape(p[:,0]*w + p[:,1], [1,size(p,0)]))
        votes = zeros_like(float64([0]), 1, (rows + 2*n)*w)
        circle_votes(votes, w, at, steps, normalize ? 1/numel(steps) : 1)
        H[:,:,k] = reshape(votes, [rows+2*n,w])[n..n+rows-1,n..n+columns-1]
    end
end

% Function: imfindcircles
% Circles in a grey image: the edges vote for centers along their gradients, and the radius is the one whose circle has
% the largest share of edge pixels; a circle is then fitted to these.
% Source: Yuen, Princen, Illingworth, Kittler: Comparative study of Hough transform methods for circle finding (1990).
%
% Parameters:
% img - a grey image or a mask
% radius - [smallest, largest] radius in pixels, or one number
% polarity - "bright" or "dark": what the circles are
% sensitivity - 0 to 1: circles count if sqrt(1-sensitivity) of their outline or more are edges
% most - how many are returned at most
% more - pairs of MATLAB, "ObjectPolarity", "dark" and "Sensitivity", 0.9, take the position of polarity
%
% Returns:
% centers - a row [row, column] for each circle (MATLAB: [column, row]), the best first
% radii - their radii
% metric - the share of their outline that is an edge
function [centers, radii, metric] = imfindcircles(img : mat, radius, polarity : string = "bright", _
                                                  sensitivity = 0.85, most = inf, ...more)
    if lcase(polarity) == "objectpolarity" || lcase(polarity) == "sensitivity"
        most = most == inf && numel(more) == 0 ? null : most
        [polarity, sensitivity] = named_values("imfindcircles", {"ObjectPolarity","Sensitivity"}, polarity,
                                               sensitivity, most, ...more)
        [polarity, sensitivity] = {isnull(polarity) ? "bright" : polarity, isnull(sensitivity) ? 0.85 : sensitivity}
        most = inf
    else
        check_no_more("imfindcircles", more)
    endif
    check_finite("imfindcircles: radius", radius)
    assert((numel(radius) == 1 || numel(radius) == 2) && all(radius >= 2) && all(radius == sort(radius)),
           "imfindcircles: radius must be [smallest, largest] of at least 2 pixels, got ", radius)
    assert(polarity == "bright" || polarity == "dark", "imfindcircles: polarity must be bright or dark, got ", polarity)
    assert(check_real(sensitivity) && all(sensitivity >= 0 && sensitivity <= 1),
           "imfindcircles: sensitivity must be 0 to 1, got ", check_got(sensitivity))
    [low, high] = {min(radius), max(radius)}
    [centers, radii, metric] = {float64(zeros(0,2)), float64(zeros(0)), float64(zeros(0))}
    if numel(img) == 0
        return
    endif
    smooth = gaussian_filter(float64(img), 1)
    [right, down] = imgradientxy(smooth)
    strong = graythresh(hypot(right, down))
    [r, c] = find(canny(float64(img), 0.4*strong, max(strong, 1e-9*max(abs(smooth)))))
    n = numel(r)
    [r, c] = {reshape(float64(r), [1,n]), reshape(float64(c), [1,n])}
    at = int(r*size(img,1) + c)
    [u, v] = {reshape(down, [1,-1])[at], reshape(right, [1,-1])[at]}
    length_ = max(hypot(u, v), 1e-300)
    sign_ = polarity == "bright" ? 1 : -1
    [u, v] = {sign_*u./length_, sign_*v./length_}
    H = zeros_like(smooth)
    center_votes(H, r, c, u, v, low, high)
    H = gaussian_filter(H, 1.5)
    open = float64(ones(n))
    found = {}
    least = max(sqrt(1 - sensitivity), 0.02)
    % A whole circle has about 3.7 votes in its center. Candidates are tried from the most votes on, until many in a row fail.
    misses = 0
    while max(H) >= least && misses < 100 && numel(found) < most
        p = float64(ind2pos(size(H), find_index_max(H)))
        [share, radius_, center] = circle_fit(p, r, c, u, v, open, low, high)
        misses += 1
        if share >= least
            misses = 0
            d = hypot(r - center[0], c - center[1])
            open = open.*(abs(d - radius_) > 2 ? 1 : 0)
            append(found, horzcat(center, radius_, share))
        endif
        reach = max(2, floor(low/2))
        H[max(p[0]-reach,0)..min(p[0]+reach,size(H,0)-1), max(p[1]-reach,0)..min(p[1]+reach,size(H,1)-1)] = 0
    end
    if numel(found) > 0
        list = sortrows(vertcat(...found), 3, "descend")
        [centers, radii, metric] = {list[:,0..1], transpose(list[:,2]), transpose(list[:,3])}
    endif
end

function [] = center_votes(H : mat[float64], r : vec[float64], c : vec[float64], u : vec[float64], v : vec[float64], _
                           low : scalar, high : scalar)
    [rows, columns] = size(H, 0..1)
    for k = 0..numel(r)-1
        t = low
        while t <= high
            i = int(floor(r[k] + t*u[k] + 0.5))
            j = int(floor(c[k] + t*v[k] + 0.5))
            if i >= 0 && j >= 0 && i < rows && j < columns
                H[i,j] += 1/t
            endif
            t += 0.5
        end
    end
end

% The best circle about a center: its share of edges whose gradient points to the center, fitted by least squares
% (Kasa: A circle fitting procedure and its error analysis, 1976).
function [share, radius, center] = circle_fit(p, r, c, u, v, open, low, high)
    center = p
    [share, radius] = {0, 0}
    for pass = 0..2
        [a, b] = {center[0] - r, center[1] - c}
        d = max(hypot(a, b), 1e-300)
        good = open > 0 && (a.*u + b.*v)./d > 0.9 && d > low - 2 && d < high + 2
        if !any(good)
            return
        endif
        bins = bincount(int(floor(d[good])), int(ceil(high)) + 4)
        near = conv(float64(bins), [1,1,1], "same")./(float64(0..numel(bins)-1) + 0.5)
        at = float64(find_index_max(near)) + 0.5
        ring = good && abs(d - at) <= 1.5 + (pass == 0 ? 0.5 : 0)
        if sum(ring) < 3
            return
        endif
        radius = sum(d[ring])/sum(ring)
        [x, y] = {r[ring] - center[0], c[ring] - center[1]}
        A = transpose(vertcat(2*x, 2*y, 0*x + 1))
        q = reshape(solve(transpose(A)*A + 1e-9*eye(3), transpose(A)*transpose(x.^2 + y.^2)), [1,3])
        move = [q[0],q[1]]
        if hypot(move[0], move[1]) < radius/2
            center = center + move
            radius = sqrt(max(q[2] + sum(move.^2), 0))
        endif
        % The circle of Bresenham has about 4*sqrt(2) pixels per unit of the radius.
        share = min(sum(ring)/(4*sqrt(2)*radius), 1)
    end
    if radius < low - 0.5 || radius > high + 0.5
        share = 0
    endif
end
