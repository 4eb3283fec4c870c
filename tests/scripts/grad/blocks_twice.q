% options: --precision 64
% tolerance: 1e-5
% devices: ref cpu
% Second derivatives of loops with barriers whose conditions are on tapes; OpenCL compiles them slowly.
import "check.q"
function [] = __kernel__ sums(x : vec, y : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    part = shared(blkdim)
    part[blkpos] = x[pos]^2
    syncthreads
    step = int(blkdim/2)
    while step > 0
        if blkpos < step
            part[blkpos] += part[blkpos + step]
        end
        syncthreads
        step = int(step/2)
    end
    if blkpos == 0
        y[blkidx] = part[0]
    end
end
function [] = __kernel__ settles(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
    s = shared(blkdim)
    s[blkpos] = x[pos]
    syncthreads
    while s[0] > 0.05
        t = 0.5*s[blkpos] + 0.1*s[mod(blkpos+1,blkdim)]^2
        syncthreads
        s[blkpos] = t
        syncthreads
    end
    if s[1] < 0.5
        t = 100*s[mod(blkpos+2,blkdim)]*s[blkpos]
        syncthreads
        s[blkpos] = t
        syncthreads
    end
    y[pos] = (s[blkpos] + 1)*(s[0] + 1)
end
function s = by_block(k, x, n)
    y = zeros(n)
    parallel_do([[numel(x)],[8]], x, y, k)
    s = sum(y.*weights(size(y)))
end
check("a sum, of the gradient", x -> sum(grad(x -> by_block(sums, x, 1), x).^3), wave(8))
check("shared memory decides, of the gradient", x -> sum(grad(x -> by_block(settles, x, 8), x).^2), wave(8))
