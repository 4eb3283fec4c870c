% All functions of block.q against the same on the host; the last blocks are smaller. block_functions.q runs on every device.
% devices: ref cpu
import "block.q"
function [] = __kernel__ floats(x : vec, y : mat, pos : int, blkpos : int, blkdim : int)
    v = x[pos]
    y[0,pos] = block_sum(v, blkpos, blkdim)
    y[1,pos] = block_cumsum(v, blkpos, blkdim)
    y[2,pos] = block_min(v, blkpos, blkdim)
    y[3,pos] = block_max(v, blkpos, blkdim)
    y[4,pos] = block_sort(v, blkpos, blkdim)
    y[5,pos] = block_shuffle(v, blkdim-1-blkpos, blkpos, blkdim)
    y[6,pos] = block_count(v > 4, blkpos, blkdim)
    y[7,pos] = (block_any(v > 8, blkpos, blkdim) ? 1 : 0) + (block_all(v > 1, blkpos, blkdim) ? 10 : 0)
    h = block_histogram(int(v), 6, blkpos, blkdim)
    y[8,pos] = blkpos < 6 ? h[blkpos] : -1
    y[9,pos] = block_reduce((a, b) -> b, v, blkpos, blkdim)
end
function [] = __kernel__ groups(x : vec[int], y : mat[int], width : int, pos : int, blkpos : int, blkdim : int)
    v = x[pos]
    y[0,pos] = group_sum(v, width, blkpos, blkdim)
    y[1,pos] = group_scan((a, b) -> max(a, b), v, width, blkpos, blkdim)
    y[2,pos] = group_min(v, width, blkpos, blkdim)
    y[3,pos] = group_max(v, width, blkpos, blkdim)
    y[4,pos] = group_shuffle(v, 1, width, blkpos, blkdim)
    y[5,pos] = group_ballot(mod(v, 2) == 1, width, blkpos, blkdim)
end
% y of the host from a function of the values of a group and the index in it
function y = on_host(x, block, width, f)
    y = float64(zeros(numel(x)))
    for first = 0..block..numel(x)-1
        for start = first..width..min(first+block, numel(x))-1
            last = min(start+width, min(first+block, numel(x)))-1
            for k = start..last
                y[k] = f(x[start..last], k-start)
            end
        end
    end
end
function s = prefix(f, v, k)
    s = v[0]
    for j = 1..k
        s = f(s, v[j])
    end
end
randseed(1)
for block = [7,32]
    for n = [5,97]
        x = floor(10*rand(n))
        y = zeros(10,n)
        parallel_do([[n],[block]], x, y, floats)
        want = zeros(10,n)
        check = (row, f) -> assert(all(y[row,:] == on_host(x, block, block, f)), "row ", row, " of blocks of ", block)
        check(0, (v, k) -> sum(v))
        check(1, (v, k) -> prefix((a, b) -> a+b, v, k))
        check(2, (v, k) -> min(v))
        check(3, (v, k) -> max(v))
        check(4, (v, k) -> sort(v)[k])
        check(5, (v, k) -> block-1-k < numel(v) ? v[block-1-k] : 0)
        check(6, (v, k) -> sum(v > 4))
        check(7, (v, k) -> (max(v) > 8 ? 1 : 0) + (min(v) > 1 ? 10 : 0))
        check(8, (v, k) -> k < 6 ? sum(v == k) : -1)
        check(9, (v, k) -> v[numel(v)-1])
        z = vec[int](n)
        z[:] = 16777217 + x
        for width = [1,4,5,32]
            g = mat[int](6,n)
            parallel_do([[n],[block]], z, g, width, groups)
            same = (row, f) -> assert(all(g[row,:] == on_host(z, block, width, f)), "row ", row, " of groups of ", width)
            same(0, (v, k) -> sum(v))
            same(1, (v, k) -> max(v[0..k]))
            same(2, (v, k) -> min(v))
            same(3, (v, k) -> max(v))
            same(4, (v, k) -> width > 1 && numel(v) > 1 ? v[1] : 0)
            if width < 32
                same(5, (v, k) -> sum(2.^(0..numel(v)-1).*(mod(v,2) == 1)))
            end
        end
    end
end
% blocks of two dimensions, row by row
function [] = __kernel__ plane(y : mat, pos : ivec2, blkpos : ivec2, blkdim : ivec2)
    y[pos] = block_cumsum(1, blkpos, blkdim)
end
y = zeros(3,4)
parallel_do([[3,4],[2,3]], y, plane)
print y
% complex numbers, and a derivative
function [] = __kernel__ phases(x : cvec, y : cvec, pos : int, blkpos : int, blkdim : int)
    y[pos] = block_reduce((a, b) -> a*b, x[pos], blkpos, blkdim)
end
y = complex(zeros(4))
parallel_do([[4],[2]], complex([1,2,3,4], [1,0,-1,1]), y, phases)
print y
function [] = __kernel__ softmax(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
    e = exp(x[pos] - block_max(x[pos], blkpos, blkdim))
    y[pos] = e/block_sum(e, blkpos, blkdim)
end
function s = weighed(x)
    y = zeros(4)
    parallel_do([[4],[4]], x, y, softmax)
    s = sum(y.*[1,2,3,4])
end
x = [0.1,0.5,-0.2,0.3]
p = exp(x)/sum(exp(x))
print max(abs(grad(weighed, x) - p.*([1,2,3,4] - sum(p.*[1,2,3,4])))) < 1e-6
