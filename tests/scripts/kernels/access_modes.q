function [] = __kernel__ k(x, xs : vec'safe, xm : vec'mirror, xc : vec'circular, xl : vec'clamped, out : mat, pos : int)
    i = pos - 4
    out[pos,0] = x[i]
    out[pos,1] = xs[i]
    out[pos,2] = xm[i]
    out[pos,3] = xc[i]
    out[pos,4] = xl[i]
end
v = [1,2,3]
out = zeros(11,5)
parallel_do(11, v, v, v, v, v, out, k)
print out
