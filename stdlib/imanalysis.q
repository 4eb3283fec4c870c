% Module: imanalysis.q
% Measuring images: thresholds, connected regions, distances, gradients, quality.
import "imfilter.q"

% Function: graythresh
% The threshold of Otsu, as a grey value of x: of all that cut the histogram of n bins in two, the one with the largest
% variance between the two sides; x > t is the brighter one, and empty
% where all of x is alike.
% Source: Otsu: A threshold selection method from gray-level histograms (1979).
function t = graythresh(x : cube, n : int = 256)
    assert(any(!isnan(x)), "graythresh: x must have elements that are numbers, got size ", size(x), _
           numel(x) > 0 ? ", all nan" : "")
    check_least("graythresh: n", n, 1)
    [counts, edges] = histogram(finite_part(x), n)
    centers = float64(edges[0..n-1] + edges[1..n])/2
    below = cumsum(float64(counts))
    sums = cumsum(float64(counts).*centers)
    above = below[n-1] - below
    between = zeros_like(sums)
    for k = 0..n-2
        if below[k] > 0 && above[k] > 0
            between[k] = below[k]*above[k]*(sums[k]/below[k] - (sums[n-1]-sums[k])/above[k])^2
        endif
    end
    best = find(between == max(between))[:,1]    % all cuts in a gap of the histogram are equally good: use the middle
    t = min((edges[min(best)+1] + edges[max(best)+1])/2, max(x))
end

% Function: bwlabel
% Connected regions of an image: its elements other than 0 get the number of their region, from 1 on, row by row.
%
% Parameters:
% x - height x width
% neighbours - 8, or 4 for those above, below, left and right only
%
% Returns:
% labels - 0 outside of all regions
% n - how many regions there are
function [labels, n] = bwlabel(x : mat, neighbours : int = 8)
    assert(neighbours == 4 || neighbours == 8, "bwlabel: neighbours must be 4 or 8, got ", neighbours)
    [rows, cols] = size(x, 0..1)
    first = mat[int](rows+1, cols+2) % provisional numbers, in a frame of zeros
    parent = vec[int](ceil(rows*cols/2)+1)
    used = 0
    for i = 0..rows-1
        for j = 0..cols-1
            if x[i,j] != 0
                % The pixel above has all other neighbours as its own, and the one to the left has the one before above.
                root = first[i,j+1]
                other = neighbours == 4 || root == 0 ? first[i+1,j] : 0
                if neighbours == 8 && root == 0
                    root = first[i,j+2]
                    other = other == 0 ? first[i,j] : other
                endif
                if root == 0
                    root = other
                endif
                if root == 0
                    used += 1
                    root = used
                    parent[used] = used
                elseif other > 0 && other != root
                    while parent[root] != root
                        parent[root] = parent[parent[root]]
                        root = parent[root]
                    end
                    while parent[other] != other
                        parent[other] = parent[parent[other]]
                        other = parent[other]
                    end
                    low = min(root, other)
                    parent[max(root, other)] = low
                    root = low
                endif
                first[i+1,j+1] = root
            endif
        end
    end
    n = 0
    number = vec[int](used+1)
    for k = 1..used
        if parent[k] == k
            n += 1
            number[k] = n
        else
            number[k] = number[parent[k]]
        endif
    end
    labels = uninit_like(x)
    parallel_do(size(x), labels, first, number, bwlabel_numbers)
end

function [] = __kernel__ bwlabel_numbers(labels : mat'unchecked, first : mat[int]'unchecked, number : vec[int]'unchecked, _
                                         pos : ivec2)
    labels[pos] = number[first[pos[0]+1,pos[1]+1]]
end

% Function: bwdist
% The distance of every element to the nearest one that is not 0; inf when there is none.
% Source: Meijster, Roerdink, Hesselink: A general algorithm for computing distance transforms in linear time (2000).
function d = bwdist(x : mat)
    along = mat[int](size(x))
    d = uninit_like(x)
    if numel(x) == 0
        return
    end
    parallel_do(size(x, 1), along, x, bwdist_columns)
    if sum(size(x)) < 32768 && mean(along) < 32     % squares fit an int; direct search is faster if distances are short
        parallel_do(size(x), d, along, bwdist_near)
    else
        column = mat[int](size(x))
        first = mat[int](size(x))
        parallel_do(size(x, 0), d, along, column, first, bwdist_rows)
    end
end

% Computes the distance to the nearest element in the same column; beyond all distances if there is none.
function [] = __kernel__ bwdist_columns(d : mat[int]'unchecked, x : mat'unchecked, pos : int)
    none = size(x,0) + size(x,1)
    last = none
    for i = 0..size(x,0)-1
        last = x[i,pos] != 0 ? 0 : min(last + 1, none)
        d[i,pos] = last
    end
    for i = size(x,0)-1..-1..0
        last = min(last + 1, d[i,pos])
        d[i,pos] = last
    end
end

% Columns further away than the best distance so far cannot improve it.
function [] = __kernel__ bwdist_near(y : mat'unchecked, d : mat[int]'clamped, pos : ivec2)
    best = d[pos]*d[pos]
    r = 1
    while r < size(d,1) && r*r < best
        nearer = min(d[pos-[0,r]], d[pos+[0,r]])
        best = min(best, nearer*nearer + r*r)
        r += 1
    end
    none = size(d,0) + size(d,1)
    y[pos] = best < none*none ? sqrt(best) : inf
end

function r = __device__ bwdist_square(along : int, across : int)
    a : int64 = along
    b : int64 = across
    r = a*a + b*b
end

% Lists the columns that are nearest somewhere in the row, from left to right: number k from position first[k] on.
function [] = __kernel__ bwdist_rows(y : mat'unchecked, d : mat[int]'unchecked, column : mat[int]'unchecked, _
    first : mat[int]'unchecked, pos : int)
    cols = size(d,1)
    none = size(d,0) + cols
    k = 0
    column[pos,0] = 0
    first[pos,0] = 0
    for i = 1..cols-1
        while k >= 0 && bwdist_square(first[pos,k] - column[pos,k], d[pos,column[pos,k]]) > _
            bwdist_square(first[pos,k] - i, d[pos,i])
            k -= 1
        end
        if k < 0
            k = 0
            column[pos,0] = i
        else
            c = column[pos,k]
            from = int((bwdist_square(i, d[pos,i]) - bwdist_square(c, d[pos,c]))/(2*(i - c))) + 1
            if from < cols
                k += 1
                column[pos,k] = i
                first[pos,k] = from
            end
        end
    end
    for i = cols-1..-1..0
        c = column[pos,k]
        y[pos,i] = d[pos,c] < none ? sqrt(bwdist_square(i - c, d[pos,c])) : inf
        if i == first[pos,k]
            k -= 1
        end
    end
end

% Function: imgradient
% Length and direction (degrees, counter-clockwise from the right) of the gradient of a grey image by the filters of
% Sobel.
function [magnitude, direction] = imgradient(x : mat)
    right = uninit_like(x)
    down = uninit_like(x)
    parallel_do(size(x), right, down, x, imgradient_sobel)
    magnitude = sqrt(right.^2 + down.^2)
    direction = atan2(0-down, right)*(180/pi)
end

function [] = __kernel__ imgradient_sobel(right : mat'unchecked, down : mat'unchecked, x : mat'clamped, pos : ivec2)
    a = x[pos+[-1,-1]]
    b = x[pos+[-1,1]]
    c = x[pos+[1,-1]]
    d = x[pos+[1,1]]
    right[pos] = b + d - a - c + 2*(x[pos+[0,1]] - x[pos+[0,-1]])
    down[pos] = c + d - a - b + 2*(x[pos+[1,0]] - x[pos+[-1,0]])
end

% Function: psnr
% The peak signal-to-noise ratio of y against x in decibels, for white = peak; null is 255.
function d = psnr(y : cube, x : cube, peak = null)
    check_alike("psnr: y and x", y, x)
    peak = scale_of("psnr: x", x, peak, 255)
    d = 10*log10(peak^2/mean((y-x).^2))
end

% Function: ssim
% The mean structural similarity of two grey images, which is 1 if they are equal.  White is peak (null: 255).  The weights
% are a Gaussian of 11 x 11 pixels with deviation 1.5, and borders are mirrored.
% Source: Wang, Bovik, Sheikh, Simoncelli: Image quality assessment (2004).
function s = ssim(y : mat, x : mat, peak = null)
    check_alike("ssim: y and x", y, x)
    peak = scale_of("ssim: x", x, peak, 255)
    y = float64(y)
    x = float64(x)
    local = img -> gaussian_filter(img, 1.5, 11)
    my = local(y)
    mx = local(x)
    vy = local(y.*y) - my.*my
    vx = local(x.*x) - mx.*mx
    both = local(x.*y) - mx.*my
    c = (0.01*peak)^2
    d = (0.03*peak)^2
    s = mean((2*mx.*my + c).*(2*both + d)./((mx.*mx + my.*my + c).*(vx + vy + d)))
end
