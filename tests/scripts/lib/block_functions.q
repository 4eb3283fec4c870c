% Main functions of block.q; the last block has fewer positions. block_functions_on_the_host.q has the others.
import "block.q"
function [] = __kernel__ sums(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
    y[pos] = block_sum(x[pos], blkpos, blkdim)
end
function [] = __kernel__ sorts(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
    y[pos] = block_sort(x[pos], blkpos, blkdim)
end
function [] = __kernel__ others(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
    h = block_histogram(int(x[pos]), 8, blkpos, blkdim)
    y[pos] = 100*h[blkpos] + block_shuffle(x[pos], 1, blkpos, blkdim)
end
function [] = __kernel__ ballots(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
    y[pos] = group_ballot(x[pos] > 4, 4, blkpos, blkdim)
end
x = [3,1,4,1,5,9,2,6, 5,3,5,8,9,7,9,3, 2,7,1]
for k = {sums, sorts, others, ballots}
    y = zeros(19)
    parallel_do([[19],[8]], x, y, k)
    print y
end
