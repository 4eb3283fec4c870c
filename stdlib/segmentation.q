% Module: segmentation.q
% Regions of images by the values and positions of their pixels.
import "check.q"
import "colortransform.q"
import "imfilter.q"

% Moves pixels at the border of the mask to the side whose mean m[1] (inside) or m[0] (outside) is nearer.
function [] = __kernel__ contour_attach(v : mat[uint8]'unchecked, u : mat[uint8]'safe, x : mat'unchecked, _
                                        m : vec'unchecked, inner : scalar, outer : scalar, pos : ivec2)
    i = pos[0]
    j = pos[1]
    up = u[max(i-1, 0),j]
    down = u[min(i+1, size(u,0)-1),j]
    left = u[i,max(j-1, 0)]
    right = u[i,min(j+1, size(u,1)-1)]
    a = x[pos] - m[1]
    b = x[pos] - m[0]
    d = inner*a*a - outer*b*b
    border = up != down || left != right
    v[pos] = border && d < 0 ? 1 : border && d > 0 ? 0 : u[pos]
end

% 1 where one of the four lines through a pixel is all inside.
function [] = __kernel__ contour_lines(v : mat[uint8]'unchecked, u : mat[uint8]'safe, pos : ivec2)
    i = pos[0]
    j = pos[1]
    rows = min(u[i,j-1], u[i,j+1])
    columns = min(u[i-1,j], u[i+1,j])
    falling = min(u[i-1,j-1], u[i+1,j+1])
    rising = min(u[i-1,j+1], u[i+1,j-1])
    v[pos] = min(u[pos], max(max(rows, columns), max(falling, rising)))
end

% 0 where one of the four lines through a pixel is all outside.
function [] = __kernel__ contour_gaps(v : mat[uint8]'unchecked, u : mat[uint8]'safe, pos : ivec2)
    i = pos[0]
    j = pos[1]
    rows = max(u[i,j-1], u[i,j+1])
    columns = max(u[i-1,j], u[i+1,j])
    falling = max(u[i-1,j-1], u[i+1,j+1])
    rising = max(u[i-1,j+1], u[i+1,j-1])
    v[pos] = max(u[pos], min(min(rows, columns), min(falling, rising)))
end

% Function: activecontour, chan_vese
% The mask of the region whose grey values differ most from the rest, from a contour that moves to separate the means
% inside and outside and remains smooth. Source: Marquez-Neila, Baumela, Alvarez: A morphological approach to
% curvature-based evolution of curves and surfaces (2014); as skimage.segmentation.morphological_chan_vese.
%
% Parameters:
% x - a grey image
% mask - where the contour begins; null is a checkerboard with squares of 5 pixels
% n - the number of iterations
% smoothing - how often the contour is smoothed in each iteration, 0 or more
% inner, outer - weights of the differences from the mean inside and outside; a larger one makes its side more uniform
%
% Returns:
% y - a mask
%
% :function y = activecontour(x : mat, mask = null, n : int = 100, smoothing : int = 1, inner : scalar = 1, outer : scalar = 1)
function y = activecontour(x : mat, mask = null, n : int = 100, smoothing : int = 1, inner : scalar = 1, _
                           outer : scalar = 1)
    check_finite("activecontour: x", x)
    check_filled("activecontour: x", x)
    check_whole("activecontour: n", n, 0)
    check_whole("activecontour: smoothing", smoothing, 0)
    check_least("activecontour: inner", inner, 0)
    check_least("activecontour: outer", outer, 0)
    if isnull(mask)
        i = transpose(floor((0..size(x,0)-1)/5))
        j = floor((0..size(x,1)-1)/5)
        mask = mod(i + j, 2) == 1
    endif
    check_alike("activecontour: x and mask", x, mask)
    u = uint8(mask != 0)
    v = uint8(mask != 0)
    g = float64(x)
    total = sum(g)
    turns = 0
    for k = 1..n
        count = sum(u)
        inside = sum(g.*u)
        m = [(total - inside)/(numel(g) - count + 1e-8), inside/(count + 1e-8)]
        parallel_do(size(u), v, u, g, float64(m), inner, outer, contour_attach)
        for s = 1..smoothing
            if mod(turns, 2) == 0
                parallel_do(size(u), u, v, contour_gaps)
                parallel_do(size(u), v, u, contour_lines)
            else
                parallel_do(size(u), u, v, contour_lines)
                parallel_do(size(u), v, u, contour_gaps)
            endif
            turns += 1
        end
        [u, v] = {v, u}
    end
    y = u != 0
end

function y = chan_vese(x : mat, mask = null, n : int = 100, smoothing : int = 1, inner : scalar = 1, outer : scalar = 1)
    y = activecontour(x, mask, n, smoothing, inner, outer)
end

% Function: slic
% Superpixels: pieces of an image of about one size and color, as skimage.segmentation.slic.
% Source: Achanta, Shaji, Smith, Lucchi, Fua, Süsstrunk: SLIC superpixels compared to state-of-the-art methods (2012).
%
% Parameters:
% img - height x width, or height x width x 3 of sRGB values, which is converted to CIE L*a*b*; values are stretched
%     from 0 to 1 before
% n - about how many superpixels
% compactness - weight of distances against colors; higher ones make squares. For grey images, 0.1 is a good start
% iterations - how many at most
% sigma - standard deviation of a Gaussian that smooths the image first
% connect - whether each superpixel becomes one region (4 neighbours); small ones join a neighbour
%
% Returns:
% labels - float64, from 1 on
% count - how many superpixels there are
function [labels, count] = slic(img : cube, n : int = 100, compactness : scalar = 10, iterations : int = 10, _
                                sigma : scalar = 0, connect = true)
    check_filled("slic: img", img)
    check_finite("slic: img", img)
    check_whole("slic: n", n, 1)
    check_whole("slic: iterations", iterations, 1)
    check_least("slic: sigma", sigma, 0)
    assert(compactness > 0 && compactness < inf, "slic: compactness must be greater than 0, got ", compactness)
    x = float64(img) - min(img)
    x = x/max(max(x), 1e-300)
    if size(x,2) == 3
        x = rgb2lab(x)
    endif
    if sigma > 0
        x = gaussian_filter(x, sigma, 2*floor(4*sigma + 0.5) + 1)
    endif
    [rows, columns] = size(x, 0..1)
    [first, step] = slic_grid([rows,columns], n)
    [column, row] = meshgrid(float64(first[1]..step[1]..columns-1), float64(first[0]..step[0]..rows-1))
    total = numel(row)
    [_, reach] = slic_grid([rows,columns], total)
    centers = float64(zeros(total, 2 + size(x,2)))
    centers[:,0] = reshape(row, [total,1])
    centers[:,1] = reshape(column, [total,1])
    x = x/compactness
    m = uninit_like(int([0]), rows, columns)
    m[:,:] = 0
    for k = 1..iterations
        distance = inf + zeros_like(float64([0]), rows, columns)
        slic_assign(m, distance, reshape(x, [rows,columns,size(x,2)]), centers, 2*reach[0], 2*reach[1], 1/max(step)^2)
        slic_centers(centers, reshape(x, [rows,columns,size(x,2)]), m)
    end
    labels = float64(m)
    if connect
        small = floor(0.5*rows*columns/total)
        large = floor(3*rows*columns/total)
        joined = uninit_like(int([0]), rows, columns)
        joined[:,:] = 0
        slic_join(joined, m, vec[int](max(large, 1)), vec[int](max(large, 1)), int(small), int(large))
        labels = float64(joined)
    else
        labels = labels + 1
    endif
    count = max(labels)
end

% The start and the steps of a regular grid of about n points, as skimage.util.regular_grid.
function [first, step] = slic_grid(s, n)
    step = sqrt(prod(s)/n) + [0,0]
    if prod(s) <= n
        step = [1,1]
    elseif min(s) < step[0]
        k = find_index_min(s)
        step[k] = s[k]
        step[1-k] = s[1-k]/n
    endif
    first = floor(step/2)
    half = step - floor(step) == 0.5 && mod(floor(step), 2) == 0
    step = max(half ? floor(step) : floor(step + 0.5), 1)
end

function [] = slic_assign(m : mat[int], distance : mat[float64], x : cube[float64], centers : mat[float64], h : int, _
                          w : int, weight : scalar)
    [rows, columns] = size(m, 0..1)
    channels = size(x,2)
    for k = 0..size(centers,0)-1
        cy = centers[k,0]
        cx = centers[k,1]
        if cy == cy
            for i = int(max(cy - h, 0))..int(min(cy + h + 1, rows))-1
                for j = int(max(cx - w, 0))..int(min(cx + w + 1, columns))-1
                    d = 0.0
                    for c = 0..channels-1
                        t = x[i,j,c] - centers[k,2+c]
                        d += t*t
                    end
                    d = ((cy-i)*(cy-i) + (cx-j)*(cx-j))*weight + d
                    if distance[i,j] > d
                        distance[i,j] = d
                        m[i,j] = k
                    endif
                end
            end
        endif
    end
end

% The means of positions and colors of all superpixels; nan for those without pixels.
function [] = slic_centers(centers : mat[float64], x : cube[float64], m : mat[int])
    [rows, columns] = size(m, 0..1)
    channels = size(x,2)
    count = vec[float64](size(centers,0))
    centers[:,:] = 0
    for i = 0..rows-1
        for j = 0..columns-1
            k = m[i,j]
            count[k] += 1
            centers[k,0] += i
            centers[k,1] += j
            for c = 0..channels-1
                centers[k,2+c] += x[i,j,c]
            end
        end
    end
    for k = 0..size(centers,0)-1
        for c = 0..size(centers,1)-1
            centers[k,c] = centers[k,c]/count[k]
        end
    end
end

% Numbers regions of equal labels, in order; a region with less than `small` pixels gets the number of a neighbour.
% Regions are cut at `large` pixels.
function [] = slic_join(joined : mat[int], m : mat[int], list_i : vec[int], list_j : vec[int], small : int, large : int)
    [rows, columns] = size(m, 0..1)
    di = int([0,0,1,-1])
    dj = int([1,-1,0,0])
    next = 1
    for i = 0..rows-1
        for j = 0..columns-1
            if joined[i,j] == 0
                near = next
                own = m[i,j]
                joined[i,j] = next
                count = 1
                seen = 0
                list_i[0] = i
                list_j[0] = j
                while seen < count && count < large
                    for k = 0..3
                        p = list_i[seen] + di[k]
                        q = list_j[seen] + dj[k]
                        if p >= 0 && q >= 0 && p < rows && q < columns && count < large
                            if m[p,q] == own && joined[p,q] == 0
                                joined[p,q] = next
                                list_i[count] = p
                                list_j[count] = q
                                count += 1
                            elseif joined[p,q] > 0 && joined[p,q] != next
                                near = joined[p,q]
                            endif
                        endif
                    end
                    seen += 1
                end
                if count < small
                    for k = 0..count-1
                        joined[list_i[k],list_j[k]] = near
                    end
                else
                    next += 1
                endif
            endif
        end
    end
end
