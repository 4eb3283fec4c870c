% Uniform images have no ridges, and at the border of normxcorr2 the image continues by zeros.
print max(abs(frangi(float64(ones(9,9)*7)))), " ", max(abs(frangi(float64(ones(9,9)*0.1))))
function c = by_windows(t, x)
    [h, w] = size(t, 0..1)
    p = zeros_like(t, size(x,0) + 2*(h-1), size(x,1) + 2*(w-1))
    p[h-1..h-2+size(x,0), w-1..w-2+size(x,1)] = x
    c = zeros_like(t, size(x,0) + h - 1, size(x,1) + w - 1)
    t = t - mean(t)
    for i = 0..size(c,0)-1
        for j = 0..size(c,1)-1
            d = p[i..i+h-1, j..j+w-1]
            d = d - mean(d)
            c[i,j] = sum(d.*t)/sqrt(sum(d.^2)*sum(t.^2))
        end
    end
end
t = reshape(float64(0..11), [3,4])
x = float64(mod(transpose(0..8)*5 + (0..9)*7, 11)) + 100
c = normxcorr2(t, x)
print size(c), " ", max(abs(c - by_windows(t, x))) < 1e-12
for v = {0.1, 7, 3.3}
    c = normxcorr2(t, v*ones(20,20))
    print round(1e6*c[0,2])/1e6, " ", c[10,10]
end
try
    print label2rgb([[0,1e9]])
catch e
    print e
end
