function [] = __kernel__ k(y : mat, pos : int)
    v = zeros(4)
    for i = 0..3
        v[i] = pos*i
    end
    w = [v[3], v[2], v[1]]
    w[1] += 0.5
    t = uninit(size(w))
    t[0] = w[2]; t[1] = w[1]; t[2] = w[0]
    y[pos,0..2] = t
end
y = zeros(2,3)
parallel_do(2, y, k)
print y
