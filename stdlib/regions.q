% Module: regions.q
% Regions of images: reconstruction, holes, local maxima, watersheds, skeletons, boundaries and properties of regions.
% Neighbours are 8, or 4 for those above, below, left and right. Computed in float64 on the processor; masks give masks.
import "imanalysis.q"
import "scattered.q"

% Steps from a pixel to the neighbours before it in an image of width w; the others are the same, negated.
function steps = region_steps(what, w, neighbours)
    assert(neighbours == 4 || neighbours == 8, what, ": neighbours must be 4 or 8, got ", check_got(neighbours))
    steps = neighbours == 4 ? int([-w,-1]) : int([-w,-1,-w-1,-w+1])
end

% The elements of x with a frame of one pixel of `edge`, as a vec.
function v = region_framed(x, edge)
    framed = zeros_like(float64([0]), size(x,0)+2, size(x,1)+2) + edge
    framed[1..size(x,0), 1..size(x,1)] = x
    v = reshape(framed, [1,numel(framed)])
end

function y = region_inner(v, rows, columns)
    y = reshape(v, [rows+2,columns+2])[1..rows, 1..columns]
end

% Raises y up to the mask m, wherever a neighbour allows it; both are framed by -inf.
function [] = region_raise(y : vec[float64], m : vec[float64], w : int, steps : vec[int])
    total = numel(y)
    h = numel(steps)
    for p = w+1..total-w-2
        v = y[p]
        for k = 0..h-1
            v = max(v, y[p+steps[k]])
        end
        y[p] = min(v, m[p])
    end
    queue = vec[int](total)
    waits = vec[uint8](total)
    count = 0
    for p = total-w-2..-1..w+1
        v = y[p]
        for k = 0..h-1
            v = max(v, y[p-steps[k]])
        end
        v = min(v, m[p])
        y[p] = v
        again = 0
        for k = 0..h-1
            q = p - steps[k]
            if y[q] < v && y[q] < m[q]
                again = 1
            endif
        end
        if again > 0
            queue[count] = p
            waits[p] = 1
            count += 1
        endif
    end
    head = 0
    tail = mod(count, total)
    while count > 0
        p = queue[head]
        head = head + 1 == total ? 0 : head + 1
        count -= 1
        waits[p] = 0
        v = y[p]
        for k = 0..2*h-1
            q = k < h ? p + steps[k] : p - steps[k-h]
            t = min(v, m[q])
            if y[q] < t
                y[q] = t
                if waits[q] == 0
                    waits[q] = 1
                    queue[tail] = q
                    tail = tail + 1 == total ? 0 : tail + 1
                    count += 1
                endif
            endif
        end
    end
end

% Function: imreconstruct
% The marker, dilated again and again below the mask, until nothing changes: the peaks of the mask that the marker touches.
% Source: Vincent: Morphological grayscale reconstruction in image analysis (1993), the hybrid algorithm.
%
% Parameters:
% marker, mask - two matrices of one size; where the marker is larger than the mask, the mask is used
% neighbours - 8 or 4
%
% Returns:
% y - a mat[float64], or of bool if both are
%
% :function y = imreconstruct(marker : mat, mask : mat, neighbours : int = 8)
function y = imreconstruct(marker, mask, neighbours : int = 8)
    check_alike("imreconstruct: marker and mask", marker, mask)
    assert(ismat(mask) && check_real(mask), "imreconstruct: mask must be a real mat, got ", type(mask))
    [rows, columns] = size(mask, 0..1)
    steps = region_steps("imreconstruct", columns+2, neighbours)
    m = region_framed(mask, -inf)
    v = min(region_framed(marker, -inf), m)
    if numel(mask) > 0
        region_raise(v, m, columns+2, steps)
    endif
    y = region_inner(v, rows, columns)
    if isbool(mask) && isbool(marker)
        y = y != 0
    endif
end

% Function: imfill
% An image whose holes are filled: dark regions that are not connected to the border of the image.
%
% Parameters:
% x - a mask or a grey image
% neighbours - of the dark pixels: 4, which "holes" of MATLAB also stands for, or 8
%
% Returns:
% y - a mat[float64], or of bool if x is
%
% :function y = imfill(x : mat, neighbours = 4)
function y = imfill(x, neighbours = 4)
    if isstring(neighbours)
        assert(neighbours == "holes", "imfill: neighbours must be 4, 8 or holes, got ", neighbours)
        neighbours = 4
    endif
    assert(ismat(x) && check_real(x), "imfill: x must be a real mat, got ", type(x))
    dark = 0 - float64(x)
    y = 0 - imreconstruct(region_border(dark), dark, neighbours)
    if isbool(x)
        y = y != 0
    endif
end

% The border of x; everything inside is -inf.
function y = region_border(x)
    y = copy(x)
    if min(size(x)) > 2
        y[1..size(x,0)-2, 1..size(x,1)-2] = -inf
    endif
end

% Function: imclearborder
% An image without the bright regions that touch its border.
%
% :function y = imclearborder(x : mat, neighbours : int = 8)
function y = imclearborder(x, neighbours : int = 8)
    assert(ismat(x) && check_real(x), "imclearborder: x must be a real mat, got ", type(x))
    g = float64(x)
    low = numel(g) > 0 ? min(g) : 0
    y = g - max(imreconstruct(region_border(g), g, neighbours), low) + low
    if isbool(x)
        y = x && y != low
    endif
end

% Function: bwareaopen
% A mask without its connected regions of fewer than `area` pixels.
function y = bwareaopen(bw : mat, area : int, neighbours : int = 8)
    check_whole("bwareaopen: area", area, 0)
    [labels, n] = bwlabel(bw, neighbours)
    list = int(reshape(labels, [1,numel(labels)]))
    keep = bincount(list, n+1) >= area
    keep[0] = false
    y = reshape(keep[list], size(labels))
end

% Function: imregionalmax, imregionalmin
% A mask of the local maxima (minima): connected pixels of one value whose other neighbours all are smaller (larger).
function y = imregionalmax(x : mat, neighbours : int = 8)
    [rows, columns] = size(x, 0..1)
    steps = region_steps("imregionalmax", columns+2, neighbours)
    v = region_framed(x, -inf)
    lower = vec[uint8](numel(v))
    if numel(x) > 0
        region_lower(v, lower, columns+2, steps)
    endif
    y = region_inner(lower, rows, columns) == 0
end

function y = imregionalmin(x : mat, neighbours : int = 8)
    y = imregionalmax(0 - x, neighbours)
end

% Marks pixels from which a path of equal values leads to a larger neighbour.
function [] = region_lower(v : vec[float64], lower : vec[uint8], w : int, steps : vec[int])
    h = numel(steps)
    queue = vec[int](numel(v))
    count = 0
    for p = w+1..numel(v)-w-2
        c = v[p]
        more = 0
        for k = 0..h-1
            if c > -inf && (v[p+steps[k]] > c || v[p-steps[k]] > c)
                more = 1
            endif
        end
        if more > 0
            lower[p] = 1
            queue[count] = p
            count += 1
        endif
    end
    head = 0
    while head < count
        p = queue[head]
        head += 1
        for k = 0..2*h-1
            q = k < h ? p + steps[k] : p - steps[k-h]
            if lower[q] == 0 && v[q] == v[p]
                lower[q] = 1
                queue[count] = q
                count += 1
            endif
        end
    end
end

% Function: imhmax, imextendedmax
% imhmax lowers every maximum by h, so that those lower than h above their surroundings vanish; imextendedmax is the mask
% of the maxima that remain.
function y = imhmax(x : mat, h : scalar, neighbours : int = 8)
    check_least("imhmax: h", h, 0)
    g = float64(x)
    y = imreconstruct(g - h, g, neighbours)
end

function y = imextendedmax(x : mat, h : scalar, neighbours : int = 8)
    y = imregionalmax(imhmax(x, h, neighbours), neighbours)
end

% Adds an entry to a heap of `count` entries that is sorted by key, then by age.
function [] = heap_push(key, age, pixel, source, count : int, v, a : int, q : int, s : int)
    i = count
    while i > 0 && (key[int((i-1)/2)] > v || key[int((i-1)/2)] == v && age[int((i-1)/2)] > a)
        up = int((i-1)/2)
        key[i] = key[up]
        age[i] = age[up]
        pixel[i] = pixel[up]
        source[i] = source[up]
        i = up
    end
    key[i] = v
    age[i] = a
    pixel[i] = q
    source[i] = s
end

% Removes the first of count+1 entries of a heap.
function [] = heap_pop(key, age, pixel, source, count : int)
    v = key[count]
    a = age[count]
    i = 0
    down = 1
    while down < count
        if down + 1 < count && (key[down+1] < key[down] || key[down+1] == key[down] && age[down+1] < age[down])
            down += 1
        endif
        if key[down] < v || key[down] == v && age[down] < a
            key[i] = key[down]
            age[i] = age[down]
            pixel[i] = pixel[down]
            source[i] = source[down]
            i = down
            down = 2*i + 1
        else
            down = count
        endif
    end
    key[i] = v
    age[i] = a
    pixel[i] = pixel[count]
    source[i] = source[count]
end

% Floods x from the labels, lowest level first; of equal levels the pixel that was reached first. The level of a pixel is
% that of the water which reaches it: x, or the highest x on its way from the marker. The queue is a heap.
function [] = watershed_flood(x : vec[float64], labels : vec[int], open : vec[uint8], steps : vec[int], line : int)
    total = numel(x)
    h = numel(steps)
    most = line > 0 ? h*total : total
    key = vec[float64](most+1)
    age = vec[int](most+1)
    pixel = vec[int](most+1)
    source = vec[int](most+1)
    count = 0
    ages = 0
    for p = 0..total-1
        if labels[p] > 0 && open[p] > 0
            heap_push(key, age, pixel, source, count, x[p], 0, p, labels[p])
            count += 1
        endif
    end
    while count > 0
        p = pixel[0]
        own = source[0]
        level = key[0]
        count -= 1
        heap_pop(key, age, pixel, source, count)
        use = 1
        if line > 0 && open[p] == 2
            open[p] = 1 % a marker, which may touch another one
        elseif line > 0
            for k = 0..h-1
                r = p + steps[k]
                if open[r] > 0 && labels[r] > 0 && labels[r] != own
                    use = 0
                endif
            end
            if labels[p] > 0
                use = 0
            elseif use == 0
                open[p] = 0
            else
                labels[p] = own
                open[p] = 1
            endif
        endif
        if use > 0
            for k = 0..h-1
                r = p + steps[k]
                if open[r] > 0 && labels[r] == 0
                    if line == 0
                        labels[r] = own
                    endif
                    ages += 1
                    heap_push(key, age, pixel, source, count, max(level, x[r]), ages, r, own)
                    count += 1
                endif
            end
        endif
    end
end

% Function: watershed
% The catchment basins of an image: water rises from the markers, and every pixel gets the number of the basin whose water
% reaches it first. Source: Meyer: Topographic distance and watershed lines (1994). Without lines the
% result is that of skimage.segmentation.watershed; scikit-image may have other lines where more than one pixel
% could separate two basins.
%
% Parameters:
% x - a grey image, e.g. the length of a gradient, or 0-bwdist(!bw) for discs that touch
% markers - numbers of the basins, 0 elsewhere; null: the local minima of x
% neighbours - 8 or 4
% line - whether pixels between basins get 0
% mask - pixels outside of it get 0; null is everything
%
% Returns:
% labels - the numbers of the basins, as large as x
function labels = watershed(x : mat, markers = null, neighbours : int = 8, line = false, mask = null)
    [rows, columns] = size(x, 0..1)
    side = region_steps("watershed", columns+2, neighbours)
    steps = horzcat(side[0..1], -side[[1,0]]) % the order of scikit-image decides between equal levels
    if neighbours == 8
        steps = horzcat(steps, side[2..3], -side[[3,2]])
    endif
    if isnull(markers)
        markers = bwlabel(imregionalmin(x, neighbours), neighbours)
    endif
    check_alike("watershed: x and markers", x, markers)
    assert(all(markers >= 0) && all(markers == floor(markers)), "watershed: markers must be integers of at least 0")
    inside = ones_like(float64([0]), rows, columns)
    if !isnull(mask)
        check_alike("watershed: x and mask", x, mask)
        inside = float64(mask != 0)
    endif
    open = uint8(region_framed(inside + (inside > 0 && markers > 0), 0))
    v = int(region_framed(float64(markers), 0))
    if numel(x) > 0
        watershed_flood(region_framed(x, inf), v, open, steps, line ? 1 : 0)
    endif
    labels = float64(region_inner(v, rows, columns)).*inside
end

% The eight neighbours of a pixel, clockwise from the one above.
function v = __device__ around_pixel(x, pos : ivec2)
    v = [x[pos+[-1,0]], x[pos+[-1,1]], x[pos+[0,1]], x[pos+[1,1]], x[pos+[1,0]], x[pos+[1,-1]], x[pos+[0,-1]], x[pos+[-1,-1]]]
end

% The number of neighbours that are set, and how often the next one of an unset neighbour is set.
function [n, rises] = __device__ neighbours_of(v)
    n = 0.0
    rises = 0.0
    for k = 0..7
        n += v[k]
        rises += v[k] == 0 && v[k < 7 ? k+1 : 0] != 0 ? 1.0 : 0.0
    end
end

% One step of Zhang and Suen; half is 0 or 1.
function [] = __kernel__ skel_step(y : mat'unchecked, x : mat'safe, half : int, pos : ivec2)
    v = around_pixel(x, pos)
    [n, rises] = neighbours_of(v)
    first = half == 0 ? v[0]*v[2]*v[4] : v[0]*v[2]*v[6]
    second = half == 0 ? v[2]*v[4]*v[6] : v[0]*v[4]*v[6]
    y[pos] = n >= 2 && n <= 6 && rises == 1 && first == 0 && second == 0 ? 0.0 : x[pos]
end

% One step of Guo and Hall; half is 0 or 1.
function [] = __kernel__ thin_step(y : mat'unchecked, x : mat'safe, half : int, pos : ivec2)
    v = around_pixel(x, pos)
    crossings = 0.0
    one = 0.0
    two = 0.0
    for i = 0..3
        k = 2*i
        after = k+1
        next = i < 3 ? k+2 : 0
        before = k > 0 ? k-1 : 7
        crossings += v[k] == 0 && (v[after] != 0 || v[next] != 0) ? 1.0 : 0.0
        one += v[before] != 0 || v[k] != 0 ? 1.0 : 0.0
        two += v[k] != 0 || v[after] != 0 ? 1.0 : 0.0
    end
    n = min(one, two)
    side = half == 0 ? (v[0] != 0 || v[1] != 0 || v[3] == 0) && v[2] != 0 : (v[4] != 0 || v[5] != 0 || v[7] == 0) && v[6] != 0
    y[pos] = crossings == 1 && n >= 2 && n <= 3 && !side ? 0.0 : x[pos]
end

% One step of an operation that looks at the number of neighbours.
function [] = __kernel__ morph_step(y : mat'unchecked, x : mat'safe, op : int, pos : ivec2)
    v = around_pixel(x, pos)
    [n, rises] = neighbours_of(v)
    c = x[pos]
    four = v[0] + v[2] + v[4] + v[6]
    clean = n == 0 ? 0.0 : c
    filled = four == 4 ? 1.0 : c
    hollow = four == 4 ? 0.0 : c
    most = n + c >= 5 ? 1.0 : 0.0
    end_ = c != 0 && rises == 1 && n <= 2 ? 1.0 : 0.0
    branch = c != 0 && rises >= 3 ? 1.0 : 0.0
    y[pos] = op == 0 ? clean : op == 1 ? filled : op == 2 ? hollow : op == 3 ? most : op == 4 ? end_ : branch
end

% Function: bwmorph
% An operation on a mask, n times, or until nothing changes where n is inf.
%
% Parameters:
% bw - a mask
% operation - "thin" (Guo, Hall: Parallel thinning with two-subiteration algorithms, 1989), "skel" (Zhang, Suen: A fast
%     parallel algorithm for thinning digital patterns, 1984), "clean" (single pixels vanish), "fill" (single holes, by
%     their 4 neighbours), "remove" (pixels inside vanish), "majority" (5 of 9), "erode", "dilate", "open", "close" (3 x 3),
%     "endpoints" and "branchpoints" of a skeleton
% n - how often
function y = bwmorph(bw : mat, operation : string, n = 1)
    check_least("bwmorph: n", n == inf ? 0 : n, 0)
    counts = {"clean", "fill", "remove", "majority", "endpoints", "branchpoints"}
    x = float(bw != 0)
    done = 0
    while done < n
        before = x
        x = uninit_like(before)
        if operation == "thin" || operation == "skel"
            step = operation == "thin" ? thin_step : skel_step
            between = uninit_like(before)
            parallel_do(size(x), between, before, 0, step)
            parallel_do(size(x), x, between, 1, step)
        elseif operation == "erode" || operation == "dilate" || operation == "open" || operation == "close"
            x = bwmorph_square(before, operation)
        else
            [there, op] = ismember(operation, counts)
            assert(there, "bwmorph: operation must be thin, skel, clean, fill, remove, majority, erode, dilate, open, close, ", _
                   "endpoints or branchpoints, got ", operation)
            parallel_do(size(x), x, before, int(op), morph_step)
        endif
        done = isequal(x, before) ? inf : done + 1
    end
    y = x != 0
end

function [] = __kernel__ morph_square(y : mat'unchecked, x : mat'clamped, sign : int, pos : ivec2)
    v = sign*x[pos]
    for i = -1..1
        for j = -1..1
            v = max(v, sign*x[pos+[i,j]])
        end
    end
    y[pos] = sign*v
end

function y = bwmorph_square(x, operation)
    y = uninit_like(x)
    z = uninit_like(x)
    first = operation == "erode" || operation == "open" ? -1 : 1
    parallel_do(size(x), y, x, first, morph_square)
    if operation == "open" || operation == "close"
        parallel_do(size(x), z, y, -first, morph_square)
        y = z
    endif
end

% Function: bwskel
% The skeleton of a mask: lines of one pixel in its middle (bwmorph with "skel", until nothing changes).
function y = bwskel(bw : mat)
    y = bwmorph(bw, "skel", inf)
end

% Function: bwperim
% The pixels of a mask that have a neighbour outside of it, at the border of the image, too; neighbours are 4 or 8.
function y = bwperim(bw : mat, neighbours : int = 4)
    w = size(bw,1) + 2
    steps = region_steps("bwperim", w, neighbours)
    v = region_framed(float64(bw != 0), 0)
    n = numel(v)
    least = copy(v)
    for k = steps
        d = -k
        least[d..n-1-d] = min(least[d..n-1-d], min(v[0..n-1-2*d], v[2*d..n-1]))
    end
    y = bw != 0 && region_inner(least, size(bw,0), size(bw,1)) == 0
end

% Walks around the region that begins at p; writes positions to list unless it is empty, and counts them.
function n = boundary_walk(v : vec[int], w : int, start : int, list : vec[int])
    step = int([-w,-w+1,1,w+1,w,w-1,-1,-w-1])
    own = v[start]
    p = start
    from = 6
    n = 0
    first = -1
    going = 1
    while going > 0
        if numel(list) > 0
            list[n] = p
        endif
        n += 1
        found = -1
        k = 1
        while k <= 8 && found < 0
            d = mod(from + k, 8)
            if v[p+step[d]] == own
                found = d
            endif
            k += 1
        end
        if found < 0
            going = 0
        elseif p == start && found == first
            going = 0
            n -= 1
        else
            if first < 0
                first = found
            endif
            p = p + step[found]
            from = mod(found + (mod(found, 2) == 0 ? 6 : 5), 8)
        endif
    end
end

% Function: bwboundaries
% The outlines of the regions of a mask or of labels (from bwlabel): for each region, in order, a matrix with a row
% [row, column] for each pixel of its outer boundary, clockwise from the first pixel of the region.
function b = bwboundaries(x : mat)
    labels = isequal(x, x != 0) ? bwlabel(x) : x
    w = size(x,1) + 2
    v = int(region_framed(labels, 0))
    [ids, first] = unique(v)
    keep = ids > 0
    first = first[keep]
    b = cell(numel(first))
    none = vec[int](0)
    for k = 0..numel(first)-1
        start = int(first[k])
        n = boundary_walk(v, w, start, none)
        list = vec[int](n+1)
        boundary_walk(v, w, start, list)
        p = float64(list[0..n-1])
        b[k] = transpose(vertcat(floor(p/w) - 1, mod(p, w) - 1))
    end
end

function [] = region_boxes(labels : mat, box : mat[float64])
    for i = 0..size(labels,0)-1
        for j = 0..size(labels,1)-1
            k = int(labels[i,j]) - 1
            if k >= 0
                box[k,0] = min(box[k,0], i)
                box[k,1] = min(box[k,1], j)
                box[k,2] = max(box[k,2], i)
                box[k,3] = max(box[k,3], j)
            endif
        end
    end
end

% Function: regionprops
% Measures of the regions of a mask or of labels.
%
% Parameters:
% x - labels from 1 on (from bwlabel), or a mask
% intensity - a grey image of the same size, for MeanIntensity, MinIntensity and MaxIntensity; null is none
% properties - names, as in MATLAB; some are only computed if they are named: "ConvexArea" (pixels of bwconvhull) and
%     "Solidity" (Area over that), "FilledArea" (without holes), "EulerNumber" (1 minus the holes of a region),
%     "Perimeter" (of the line through the middles of the pixels at the border, as skimage.measure.perimeter),
%     "Circularity" (4 pi Area over the square of Perimeter), "PixelIdxList" (a cell with the indices of the pixels of
%     each region in reshape(x, [1,-1]), ascending)
%
% Returns:
% s - an object of float64 arrays with an entry or row per label 1, 2, …: Area (pixels), Centroid ([row, column]), BoundingBox
%     ([first row, first column, height, width]), MajorAxisLength, MinorAxisLength (axes of the ellipse of the same second
%     moments, pixels being squares), Eccentricity, Orientation (degrees counter-clockwise from the right, of the major axis), EquivDiameter,
%     Extent (Area over that of the box), MeanIntensity. Labels without pixels have Area 0 and nan
function s = regionprops(x : mat, intensity = null, ...properties)
    wanted = {}
    if isstring(intensity) || iscell(intensity)
        region_names(wanted, intensity)
        intensity = null
    endif
    for name = properties
        region_names(wanted, name)
    end
    labels = x
    if numel(x) > 0 && isequal(x, x != 0)
        labels = bwlabel(x)
    endif
    assert(all(labels >= 0) && all(labels == floor(labels)), "regionprops: x must be a mask or labels, integers from 0 on")
    n = numel(labels) > 0 ? int(max(labels)) : 0
    list = int(reshape(labels, [1,numel(labels)]))
    rows = reshape(repmat(float64(transpose(0..size(x,0)-1)), [1,size(x,1)]), [1,numel(x)])
    columns = reshape(repmat(float64(0..size(x,1)-1), [size(x,0),1]), [1,numel(x)])
    s = object()
    s.Area = bincount(list, n+1)[1..n]
    row = bincount(list, n+1, rows)[1..n]./s.Area
    column = bincount(list, n+1, columns)[1..n]./s.Area
    s.Centroid = transpose(vertcat(row, column))
    box = mat[float64](n, 4)
    if n > 0
        box[:,0..1] = inf
        box[:,2..3] = -inf
        region_boxes(labels, box)
    endif
    height = box[:,2] - box[:,0] + 1
    width = box[:,3] - box[:,1] + 1
    s.BoundingBox = horzcat(box[:,0..1], height, width)
    % Second moments about the centroid; a pixel itself has 1/12.
    r = rows - horzcat(float64([0]), row)[list]
    c = columns - horzcat(float64([0]), column)[list]
    rr = bincount(list, n+1, r.^2)[1..n]./s.Area + 1/12
    cc = bincount(list, n+1, c.^2)[1..n]./s.Area + 1/12
    rc = bincount(list, n+1, r.*c)[1..n]./s.Area
    root = sqrt((rr - cc).^2 + 4*rc.^2)
    s.MajorAxisLength = 2*sqrt(2)*sqrt(rr + cc + root)
    s.MinorAxisLength = 2*sqrt(2)*sqrt(max(rr + cc - root, 0))
    s.Eccentricity = sqrt(max(1 - (s.MinorAxisLength./s.MajorAxisLength).^2, 0))
    s.Orientation = atan2(0-2*rc, cc - rr)*(90/pi)
    s.EquivDiameter = sqrt(4/pi*s.Area)
    s.Extent = s.Area./reshape(height.*width, [1,n])
    if !isnull(intensity)
        check_alike("regionprops: x and intensity", x, intensity)
        v = float64(reshape(intensity, [1,numel(x)]))
        s.MeanIntensity = bincount(list, n+1, v)[1..n]./s.Area
        [s.MinIntensity, s.MaxIntensity] = {nan + s.Area, nan + s.Area}
        region_extremes(list, v, s.MinIntensity, s.MaxIntensity)
    endif
    more = {"ConvexArea","Solidity","FilledArea","EulerNumber","Perimeter","Circularity","PixelIdxList"}
    for name = wanted
        [known, k] = ismember(name, more)
        if known
            needed = name == "Solidity" ? "ConvexArea" : name == "Circularity" ? "Perimeter" : name
            setfield(s, needed, needed == "PixelIdxList" ? region_pixels(list, n) : region_measure(labels, box, needed))
            if needed == "ConvexArea"
                s.Solidity = s.Area./s.ConvexArea
            elseif name == "Circularity"
                s.Circularity = 4*pi*s.Area./s.Perimeter.^2
            endif
        else
            assert(isfield(s, name) || name == "all" || name == "basic", "regionprops: there is no property ", name, _
                   isnull(intensity) && strfind(name, "Intensity") >= 0 ? " without an image" : "", ", but ", _
                   strjoin(fieldnames(s), ", "), ", ", strjoin(more, ", "))
        endif
    end
end

% The indices of the pixels of each label, as a cell.
function pixels = region_pixels(list, n)
    pixels = cell(n)
    [sorted, order] = sort(list)
    last = cumsum(bincount(list, n+1))
    for k = 0..n-1
        pixels[k] = sort(float64(order[last[k]..last[k+1]-1]))
    end
end

% A measure of the mask of each label, within its box and a frame.
function n = region_measure(labels, box, name)
    n = nan + float64(zeros(size(box,0)))
    for k = 0..size(box,0)-1
        if box[k,2] >= box[k,0]
            part = labels[box[k,0]..box[k,2],box[k,1]..box[k,3]] == k+1
            bw = reshape(region_framed(float64(part), 0), size(part) + 2) > 0
            match name with
            | "ConvexArea" -> n[k] = sum(bwconvhull(bw))
            | "FilledArea" -> n[k] = sum(imfill(bw))
            | "EulerNumber" -> n[k] = bweuler(bw)
            | "Perimeter" -> n[k] = region_perimeter(bw)
            end
        endif
    end
end

% The length of the line through the pixels at the border of a mask, by the neighbours of each that are at the border,
% too: 1 for two beside it, sqrt(2) for two at its corners, the mean for one of each, as skimage.measure.perimeter.
function length_ = region_perimeter(bw)
    border = float64(bwperim(bw))
    code = conv2(border, [[10,2,10],[2,1,2],[10,2,10]], "same")
    n = bincount(int(code), 50)
    length_ = sum(n[[5,7,15,17,25,27]]) + sqrt(2)*(n[21] + n[33]) + (1 + sqrt(2))/2*(n[13] + n[23])
end

% Adds a name or a cell of names to a list.
function [] = region_names(list, names)
    if iscell(names)
        for name = names
            region_names(list, name)
        end
    else
        assert(isstring(names), "regionprops: properties must be names, got ", type(names))
        append(list, names)
    endif
end

function [] = region_extremes(list : vec[int], v : vec[float64], low : vec[float64], high : vec[float64])
    for i = 0..numel(list)-1
        k = list[i] - 1
        if k >= 0
            low[k] = min(low[k], v[i])
            high[k] = max(high[k], v[i])
        endif
    end
end

% The numbers of pixels of the convex hulls of labels, each within its box.
function n = region_hulls(labels, box)
    n = nan + float64(zeros(size(box,0)))
    for k = 0..size(box,0)-1
        if box[k,2] >= box[k,0]
            n[k] = sum(bwconvhull(labels[box[k,0]..box[k,2], box[k,1]..box[k,3]] == k+1))
        endif
    end
end

% Function: bweuler
% The number of Euler of a mask: regions minus holes. neighbours, 8 or 4, are those within a region; for 8, holes are
% connected by 4 neighbours, and for 4 by 8, as in skimage.measure.euler_number. Source: Gray: Local properties of
% binary images in two dimensions (1971).
function e = bweuler(bw : mat, neighbours : int = 8)
    assert(neighbours == 4 || neighbours == 8, "bweuler: neighbours must be 4 or 8, got ", neighbours)
    [h, w] = size(bw, 0..1)
    v = reshape(region_framed(float64(bw != 0), 0), [h+2,w+2])
    [a, b, c, d] = {v[0..h,0..w], v[0..h,1..w+1], v[1..h+1,0..w], v[1..h+1,1..w+1]}
    n = a + b + c + d
    diagonal = sum(n == 2 && a == d)
    e = (sum(n == 1) - sum(n == 3) + (neighbours == 8 ? -2 : 2)*diagonal)/4
end

% Function: bwconvhull
% The convex hull of a mask: pixels whose middle is in the hull of the middles of all edges of its pixels, as
% skimage.morphology.convex_hull_image.
%
% Parameters:
% bw - a mask
% method - "union": the hull of all pixels; "objects": the union of the hulls of the regions
% neighbours - 8 or 4, of "objects"
function y = bwconvhull(bw : mat, method : string = "union", neighbours : int = 8)
    assert(method == "union" || method == "objects", "bwconvhull: method must be union or objects, got ", method)
    x = method == "objects" ? bwlabel(bw, neighbours) : float64(bw != 0)
    y = bw != bw
    for label = 1..(numel(x) > 0 ? max(x) : 0)
        [r, c] = find(x == label)
        if numel(r) > 0
            [r, c] = {float64(reshape(r, [1,numel(r)])), float64(reshape(c, [1,numel(c)]))}
            [v, h] = {horzcat(r - 0.5, r + 0.5, r, r), horzcat(c, c, c - 0.5, c + 0.5)}
            k = convhull(h, v)
            [first, last] = {int([min(r),min(c)]), int([max(r),max(c)])}
            [columns, rows] = meshgrid(float64(first[1]..last[1]), float64(first[0]..last[0]))
            inside = inpolygon(columns, rows, h[k], v[k])
            y[first[0]..last[0],first[1]..last[1]] = y[first[0]..last[0],first[1]..last[1]] || inside
        endif
    end
end
