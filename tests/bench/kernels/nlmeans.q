function [] = __kernel__ nlm(x : mat'mirror, y : mat'unchecked, pos : ivec2)
    total = 0.0
    weights = 0.0
    for dm = -5..5
        for dn = -5..5
            d = 0.0
            for pm = -1..1
                for pn = -1..1
                    e = x[pos[0]+pm,pos[1]+pn] - x[pos[0]+dm+pm,pos[1]+dn+pn]
                    d += e*e
                end
            end
            w = exp(-d*0.002)
            total += w*x[pos[0]+dm,pos[1]+dn]
            weights += w
        end
    end
    y[pos] = total/weights
end
h = 512
x = zeros(h,h)
x[:,:] = reshape(mod((0..h*h-1)*7, 251), [h,h])
y = zeros(h,h)
best = 1/0
for k = 1..4
    tic()
    parallel_do(size(y), x, y, nlm)
    best = min(best, toc(""))
end
print best, " ", sum(y)
