function [] = __kernel__ stencil(x : mat'mirror, y : mat'unchecked, w : mat'unchecked, pos : ivec2)
    s = 0.0
    for m = -2..2
        for n = -2..2
            s += w[m+2,n+2]*x[pos[0]+m,pos[1]+n]
        end
    end
    y[pos] = s
end
h = 2048
x = reshape((0..h*h-1)/(h*h), [h,h])
y = zeros(h,h)
w = ones(5,5)/25
best = 1/0
for k = 1..12
    tic()
    parallel_do(size(y), x, y, w, stencil)
    best = min(best, toc(""))
end
print best, " ", sum(y)
