% Shared memory has the type of a value: large integers are not rounded, complex numbers keep both parts.
function [] = __kernel__ turn(x : vec[int], z : cvec, y : vec[int], w : cvec, pos : int, blkpos : int, blkdim : int)
    s = shared_like(x[pos], blkdim)
    t = shared_like(z, 2, blkdim)
    b = shared_like(true, blkdim)
    s[blkpos] = x[pos]
    t[1,blkpos] = z[pos]
    b[blkpos] = x[pos] > 16777219
    syncthreads
    y[pos] = s[blkdim-1-blkpos] + b[blkdim-1-blkpos]
    w[pos] = t[1,blkdim-1-blkpos] + t[0,blkpos]
end
y = vec[int](4)
w = complex(zeros(4))
x = vec[int](4)
for i = 0..3
    x[i] = 16777217 + i
end
parallel_do([[4],[4]], x, complex([1,2,3,4], [5,6,7,8]), y, w, turn)
print y, " ", w
