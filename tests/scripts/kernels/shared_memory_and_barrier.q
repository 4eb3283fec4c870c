function [] = __kernel__ block_sum(x : vec, sums : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    s = shared(blkdim)
    s[blkpos] = x[pos]
    syncthreads
    step = int(blkdim/2)
    while step > 0
        if blkpos < step
            s[blkpos] += s[blkpos + step]
        end
        syncthreads
        step = int(step/2)
    end
    if blkpos == 0
        sums[blkidx] = s[0]
    end
end
x = 0..63
sums = zeros(4)
parallel_do([[64],[16]], x, sums, block_sum)
print sums
