print max_block_size([16,8]), " ", all(max_block_size([4096,4096]) <= 4096), " ", opt_block_size([1000]), numel(opt_block_size([100,100,3]))
function [] = __kernel__ count(h : vec, pos : int, blkpos : int)
    seen = shared_zeros(4)
    seen[mod(blkpos,4)] += 1
    syncthreads
    if blkpos < 4
        h[blkpos] += seen[blkpos]
    endif
end
h = zeros(4)
parallel_do([[64],[16]], h, count)
print h
