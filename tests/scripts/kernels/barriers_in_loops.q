% tree sums in a block, with a barrier at every position of a loop
function [] = __kernel__ last(x : vec, sums : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    s = shared(blkdim)
    s[blkpos] = pos < numel(x) ? x[pos] : 0
    syncthreads
    step = 1
    while step < blkdim
        if mod(blkpos, 2*step) == 0 && blkpos + step < blkdim
            s[blkpos] += s[blkpos+step]
        end
        syncthreads
        step *= 2
    end
    if blkpos == 0
        sums[blkidx] = s[0]
    end
end
function [] = __kernel__ first(x : vec, sums : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    s = shared(blkdim)
    s[blkpos] = x[pos]
    step = 1
    while step < blkdim
        syncthreads
        if mod(blkpos, 2*step) == 0
            s[blkpos] += s[blkpos+step]
        end
        step *= 2
    end
    if blkpos == 0
        sums[blkidx] = s[0]
    end
end
function [] = __kernel__ both(x : vec, sums : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    s = shared(blkdim)
    s[blkpos] = x[pos]
    for k = 0..3
        syncthreads
        other = mod(blkpos, shl(2, k)) == 0 ? s[blkpos+shl(1, k)] : 0
        syncthreads
        s[blkpos] += other
    end
    if blkpos == 0
        sums[blkidx] = s[0]
    end
end
function [] = __kernel__ nested(x : vec, sums : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    s = shared(blkdim)
    s[blkpos] = x[pos]
    syncthreads
    for turn = 1..2
        step = int(blkdim/2)
        repeat
            if blkpos < step
                s[blkpos] += s[blkpos+step]
            end
            syncthreads
            step = int(step/2)
        until step == 0
        top = s[0]
        syncthreads
        s[blkpos] = top
        syncthreads
    end
    sums[blkidx] = s[0]
end
x = 0..63
for kernel = {last, first, both, nested}
    sums = zeros(4)
    parallel_do([[64],[16]], x, sums, kernel)
    print sums
end
