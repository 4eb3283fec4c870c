% argmin, argmax and [v, i] = min, max of small arrays along a dimension, as on the host.
function [] = __kernel__ all_extremes(x : cube, a : mat, b : mat, c : mat, d : mat, pos : int)
    m = x[pos,0..2,0..3]
    a[4*pos,:] = argmin(m, 0)
    a[4*pos+1,:] = argmax(m, 0)
    [a[4*pos+2,:], a[4*pos+3,:]] = min(m, [], 0)
    b[:,4*pos] = argmin(m, 1)
    b[:,4*pos+1] = argmax(m, 1)
    [v, i] = max(m, [], 1)
    b[:,4*pos+2] = v
    b[:,4*pos+3] = i
    [v, i] = max(m[1,:])
    c[pos,0] = v
    c[pos,1] = i
    c[pos,2] = m[1,i]
    k = int(0)
    w = m[2,:]
    for j = 0..3
        k = w[j] > w[k] ? j : k
    end
    d[pos,0] = w[k]
    d[pos,1] = argmin(w)
    d[pos,2] = m[argmax(m[:,1]), argmin(m[0,:])]
end
x = reshape(mod((0..35).^2, 17), [3,3,4])
x[1,1,2] = nan
x[1,:,0] = nan
a = zeros(12,4)
b = zeros(3,12)
c = zeros(3,3)
d = zeros(3,3)
parallel_do(3, x, a, b, c, d, all_extremes)
for p = 0..2
    m = reshape(x[p,:,:], [3,4])
    [v, i] = min(m, [], 0)
    print a[4*p..4*p+3,:], isequal(a[4*p..4*p+1,:], vertcat(argmin(m,0), argmax(m,0))), isequal(a[4*p+3,:], i)
    [u, j] = max(m, [], 1)
    print isequal(b[:,4*p..4*p+1], horzcat(argmin(m,1), argmax(m,1))), isequal(b[:,4*p+3], j), b[:,4*p+2]
end
print c
print d
