% options: --checked
% An index that all positions of a block share is checked before any of them uses it.
function [] = __kernel__ shared_read(x : vec, y : vec, n : int, pos : int, blkpos : int)
    s = shared(16)
    s[blkpos] = x[pos]
    syncthreads
    t = 0
    while s[n] > t
        syncthreads
        t += 1
    end
    y[pos] = s[15-blkpos] + t
end
function [] = __kernel__ private_write(x : vec, y : vec, n : int, pos : int, blkpos : int)
    a : vec(4) = [1,2,3,4]
    s = shared(16)
    s[blkpos] = x[pos]
    syncthreads
    t = 0
    while a[n] < 6
        a[n] += 1 + t
        syncthreads
        t += 1
    end
    y[pos] = s[15-blkpos] + a[mod(blkpos,4)]
end
function [] = __kernel__ array_read(x : vec, y : vec, n : int, pos : int)
    t = 0
    while x[n] > t
        syncthreads
        t += 1
    end
    y[pos] = t
end
function [] = attempt(k, n)
    y = zeros(16)
    try
        parallel_do([[16],[16]], 1..16, y, n, k)
        print y
    catch e
        print e
    end
end
for k = {shared_read, private_write, array_read}
    attempt(k, 2)
    attempt(k, 200000000)
end
