% options: --precision 64
% tolerance: 1e-5
% Kernels whose positions communicate through shared memory, with barriers and plain stores.
import "check.q"

% the reduction of the manuals: the loop computes the condition of the barrier
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
function [] = __kernel__ largest(x : vec, y : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    part = shared(blkdim)
    part[blkpos] = x[pos]^2
    syncthreads
    step = int(blkdim/2)
    while step > 0
        if blkpos < step
            part[blkpos] = max(part[blkpos], part[blkpos + step])
        end
        syncthreads
        step = int(step/2)
    end
    if blkpos == 0
        y[blkidx] = part[0]
    end
end
% a minimum by updates, and a product whose loop counts up
function [] = __kernel__ smallest(x : vec, y : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    part = shared(blkdim)
    part[blkpos] = x[pos]^2
    syncthreads
    step = int(blkdim/2)
    while step > 0
        if blkpos < step
            part[blkpos] __= part[blkpos + step]
        end
        syncthreads
        step = int(step/2)
    end
    if blkpos == 0
        y[blkidx] = part[0]
    end
end
function [] = __kernel__ products(x : vec, y : vec, pos : int, blkpos : int, blkdim : int, blkidx : int)
    part = shared(blkdim)
    part[blkpos] = x[pos]
    syncthreads
    n = 1
    while n < blkdim
        if mod(blkpos, 2*n) == 0 && blkpos + n < blkdim
            part[blkpos] *= part[blkpos + n]
        end
        syncthreads
        n *= 2
    end
    if blkpos == 0
        y[blkidx] = part[0]
    end
end
% a softmax of each block: the maximum, then a sum, then both for every element
function [] = __kernel__ softmax(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
    part = shared(blkdim)
    part[blkpos] = x[pos]
    syncthreads
    for k = 2..-1..0
        n = 2^k
        if blkpos < n
            part[blkpos] = max(part[blkpos], part[blkpos + n])
        end
        syncthreads
    end
    m = part[0]
    syncthreads
    e = exp(x[pos] - m)
    part[blkpos] = e
    syncthreads
    for k = 2..-1..0
        n = 2^k
        if blkpos < n
            part[blkpos] += part[blkpos + n]
        end
        syncthreads
    end
    y[pos] = e/part[0]
end
function s = by_block(k, x, n)
    y = zeros(n)
    parallel_do([[numel(x)],[8]], x, y, k)
    s = sum(y.*weights(size(y)))
end
check("a sum", x -> by_block(sums, x, 3), wave(24))
check("a maximum", x -> by_block(largest, x, 3), wave(24))
check("a minimum", x -> by_block(smallest, x, 3), wave(24))
check("a product", x -> by_block(products, x, 3), wave(24))
check("softmax", x -> by_block(softmax, x, 24), wave(24))
% two equal maxima get one half each, as in max(a, b)
print grad(x -> by_block(largest, x, 1), [1,3,2,3,0,0,0,0])
% second derivatives of elements that are read, written and read again in shared memory
function [] = __kernel__ exchanged(x : vec, y : vec, pos : int, blkpos : int, blkdim : int)
    s = shared(blkdim)
    s[blkpos] = x[pos]
    syncthreads
    t = s[mod(blkpos+1,blkdim)]*s[0]
    syncthreads
    s[blkpos] = t
    syncthreads
    y[pos] = s[blkpos]*s[mod(blkpos+2,blkdim)]
end
check("exchanged", x -> by_block(exchanged, x, 16), wave(16))
check("exchanged, of the gradient", x -> sum(grad(x -> by_block(exchanged, x, 16), x).^2), wave(16))
check("softmax, of the gradient", x -> sum(grad(x -> by_block(softmax, x, 8), x).^2), wave(8))
% shared values decide how often barriers run, and whether they run
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
check("shared memory decides", x -> by_block(settles, x, 16), wave(16))
