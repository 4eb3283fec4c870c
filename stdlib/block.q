% Module: block.q
% Functions that all positions of a block compute together: sums, extremes, scans, sorting, histograms, and the exchange of
% values; also for groups of `width` neighbouring positions of a block, as for the subgroups (warps) of a GPU.
%
%     function [] = __kernel__ k(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
%         y[pos] = block_sum(x[pos], blkpos, blkdim)
%
% Every position of the block must make the call, outside of branches that only some positions take.  blkpos and blkdim
% are those of the kernel, numbers or vectors; positions are counted row by row.  Values are numbers of any type, which
% is kept.  Positions that are missing, since the size is no multiple of the block, are left out.  Values go through
% shared memory, so the results are the same on every device.

% The index of this position among those of its block, and their number: fewer than blkdim says at the edge of the launch.
function [i, n] = __device__ block_index(blkpos : int, blkdim : int)
    extent = shared_like(1, 1)
    extent[0] ^^= blkpos + 1
    syncthreads
    i = blkpos
    n = extent[0]
end
function [i, n] = __device__ block_index(blkpos, blkdim)
    extent = shared_like(1, numel(blkdim))
    for k = 0..numel(blkdim)-1
        extent[k] ^^= blkpos[k] + 1
    end
    syncthreads
    i = blkpos[0]
    n = extent[0]
    for k = 1..numel(blkdim)-1
        i = i*extent[k] + blkpos[k]
        n *= extent[k]
    end
end

% Function: group_scan
% The values of the positions of a group up to its own, combined in their order by f, which must be associative.
function y = __device__ group_scan(f, v, width : int, blkpos, blkdim)
    [i, n] = block_index(blkpos, blkdim)
    s = shared_like(v, prod(blkdim))
    y = v
    s[i] = y
    syncthreads
    lane = mod(i, width)
    step = 1
    while step < min(width, n)
        before = s[max(i-step, 0)]
        syncthreads
        if lane >= step
            y = f(before, y)
            s[i] = y
        end
        syncthreads
        step *= 2
    end
end

function y = __device__ reduce_at(f, v, width, i, n, blkdim)
    s = shared_like(v, prod(blkdim))
    y = v
    s[i] = y
    syncthreads
    lane = mod(i, width)
    step = 1
    while step < min(width, n)
        after = s[min(i+step, n-1)]
        syncthreads
        if lane + step < width && i + step < n
            y = f(y, after)
            s[i] = y
        end
        syncthreads
        step *= 2
    end
    y = s[i-lane]
    syncthreads
end

% Function: group_reduce
% The values of all positions of a group, combined in their order by f, which must be associative.
function y = __device__ group_reduce(f, v, width : int, blkpos, blkdim)
    [i, n] = block_index(blkpos, blkdim)
    y = reduce_at(f, v, width, i, n, blkdim)
end

% Function: group_shuffle
% The value of position `lane` of the group, counted from 0; 0 if it is missing.
function y = __device__ group_shuffle(v, lane : int, width : int, blkpos, blkdim)
    [i, n] = block_index(blkpos, blkdim)
    from = i - mod(i, width) + lane
    s = shared_like(v, prod(blkdim))
    s[i] = v
    syncthreads
    y = lane >= 0 && lane < width && from < n ? s[min(from, n-1)] : zeros_like(v)
    syncthreads
end

% Function: group_ballot
% A uint32: bit k is 1 if the condition holds at position k of the group, which has at most 32.
function y = __device__ group_ballot(c, width : int, blkpos, blkdim)
    assert(width <= 32, "group_ballot: width must be at most 32")
    [i, n] = block_index(blkpos, blkdim)
    bit = uint32(c ? 1 : 0)
    y = reduce_at((a, b) -> or(a, b), shl(bit, mod(i, width)), width, i, n, blkdim)
end

% Function: group_sum, group_min, group_max
% The sum, the smallest and the largest value of the positions of a group.
function y = __device__ group_sum(v, width : int, blkpos, blkdim)
    y = group_reduce((a, b) -> a + b, v, width, blkpos, blkdim)
end
function y = __device__ group_min(v, width : int, blkpos, blkdim)
    y = group_reduce((a, b) -> min(a, b), v, width, blkpos, blkdim)
end
function y = __device__ group_max(v, width : int, blkpos, blkdim)
    y = group_reduce((a, b) -> max(a, b), v, width, blkpos, blkdim)
end

% -- the whole block ---------------------------------------------------------------------------------------------------

% Function: block_reduce, block_scan
% The values of a block, combined in their order by f, which must be associative: all, or those up to the position.
function y = __device__ block_reduce(f, v, blkpos, blkdim)
    y = group_reduce(f, v, prod(blkdim), blkpos, blkdim)
end
function y = __device__ block_scan(f, v, blkpos, blkdim)
    y = group_scan(f, v, prod(blkdim), blkpos, blkdim)
end
% Function: block_sum, block_min, block_max
% The sum, the smallest and the largest value of the positions of a block.
function y = __device__ block_sum(v, blkpos, blkdim)
    y = block_reduce((a, b) -> a + b, v, blkpos, blkdim)
end
function y = __device__ block_min(v, blkpos, blkdim)
    y = block_reduce((a, b) -> min(a, b), v, blkpos, blkdim)
end
function y = __device__ block_max(v, blkpos, blkdim)
    y = block_reduce((a, b) -> max(a, b), v, blkpos, blkdim)
end
% Function: block_cumsum
% The sum of the values of a block up to this position.
function y = __device__ block_cumsum(v, blkpos, blkdim)
    y = block_scan((a, b) -> a + b, v, blkpos, blkdim)
end
% Function: block_count, block_any, block_all
% At how many positions of a block the condition holds; whether it holds at one, at all.
function n = __device__ block_count(c, blkpos, blkdim)
    n = block_sum(c ? 1 : 0, blkpos, blkdim)
end
function y = __device__ block_any(c, blkpos, blkdim)
    y = block_max(c ? 1 : 0, blkpos, blkdim) == 1
end
function y = __device__ block_all(c, blkpos, blkdim)
    y = block_min(c ? 1 : 0, blkpos, blkdim) == 1
end
% Function: block_shuffle
% The value of position `lane` of the block; 0 if it is missing.
function y = __device__ block_shuffle(v, lane : int, blkpos, blkdim)
    y = group_shuffle(v, lane, prod(blkdim), blkpos, blkdim)
end

% Function: block_sort
% The values in ascending order: position k of the block gets the value with rank k.  A bitonic sorting network, whose
% comparisons all have the smaller value first, so that a block may have any number of positions.
function y = __device__ block_sort(v, blkpos, blkdim)
    [i, n] = block_index(blkpos, blkdim)
    s = shared_like(v, prod(blkdim))
    s[i] = v
    syncthreads
    size = 2
    while size < 2*n
        step = size - 1
        while step > 0
            other = xor(i, step)
            if other > i && other < n
                if s[other] < s[i]
                    t = s[i]
                    s[i] = s[other]
                    s[other] = t
                end
            end
            syncthreads
            step = step == size - 1 ? int(size/4) : int(step/2)
        end
        size *= 2
    end
    y = s[i]
    syncthreads
end

% Function: block_histogram
% The number of positions of the block whose value is k, for k = 0..count-1: an array that the block shares.  Other values
% are not counted.
function h = __device__ block_histogram(bin : int, count : int, blkpos, blkdim)
    h = shared_like(1, count)
    if bin >= 0 && bin < count
        h[bin] += 1
    end
    syncthreads
end
