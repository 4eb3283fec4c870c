function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
u : vec[uint8] = [2, 0, 2, 1]
print interp1([0,1,3], [10,20,40], [0,0.5,1,2,3,4]), " ", interp1([0,1], [0,10], 0.25), " ", interp1([0,1], [0,10], [])
print interp1([0,1,3], [1,2,5], [0.4,0.6,2], "nearest"), " ", interp1([0,1,3], [1,2,5], [0.4,1,2.9,3], "previous")
print interp1([0,1], [2,3], [-1,nan,inf], "linear", 7), " ", interp1([0,1], [1,inf], [0,0.5,1]), " ", interp1([0,1,2,3], u, 0.5)
z = [[1,2],[3,4]]
print interp2(z, [0,0.5,1,2], [0,0.5,1,0]), " ", interp2(z, 0.5, 0), " ", interp2(z, [nan,-1], [0,0], "linear", 9), " ", interp2([5], 0, 0)
[n, e] = histogram([1,2,2,3,9], 4)
print n, " ", e, " ", sum(histogram([1,2,3])), " ", histogram([1,2,3,4,nan,inf], [0,2,4]), " ", histogram([1,5,6], 2, [0,6])
[n, e] = histogram([], 2)
print histogram([1,nan,inf], 2, [0,2]), " ", histogram([1,inf,-inf,nan], [-inf,0,inf]), " ", graythresh([1,1,9,nan,inf], 4), _
      " ", graythresh([1,1,9], 4)
print n, " ", e, " ", histogram(3, 1), " ", histogram(u, [0,1,2,3]), " ", type(n)
print bincount(u), " ", bincount([]), " ", bincount(3), " ", bincount([1,1,3], 6), " ", bincount([0,2,2], 0, [0.5,1,2])
print polyval([1,2,3], 2), " ", polyval([1,0], [[1,2],[3,inf]]), " ", polyval([], [1,2]), " ", polyval([1,nan], 1), " ", polyval(u, 1)
p = polyfit(0..4, [1,3,7,13,21], 2)
print allclose(p, [1,1,1], 1e-5, 1e-5), " ", allclose(polyfit([1000,2000,3000], [1,2,4], 1), [0.0015,-2/3]), " ", isclose(polyfit([1,2], [5,7], 0), 6)
print conv([1,2,3], [1,1]), " ", conv([1,2,3], [1,0,-1], "same"), " ", conv([1,2,3,4], [1,1], "valid"), " ", conv(2, 3), " ", conv([1,inf], [1,1])
print conv(u, [1,1]), " ", conv([1], [1,2,3], "valid"), conv2(z, [[1,1],[1,1]])
print conv2([[1,2,3],[4,5,6],[7,8,9]], [[0,1,0],[1,-4,1],[0,1,0]], "same"), conv2(z, z, "valid")
print cov([1,2,4]), " ", cov([1,2,4], [2,4,9]), cov([[1,2],[3,7],[5,6]]), " ", cov(5), " ", cov([1,nan])
print corrcoef([1,2,3], [2,4,6]), " ", corrcoef([1,2,3], [1,1,1]), " ", isclose(corrcoef([1,2,4], [2,4,9])[0,1], 0.998625)
C = cov(complex(rand(9,30), rand(9,30)))
print isequal(C, herm_transpose(C)), " ", max(abs(imag(diag(C)))), " ", isequal(diag(corrcoef(rand(9,30))), ones(1,30))
attempt(() -> interp1([0,1], [1,2,3], 0))
attempt(() -> interp1([0,0], [1,2], 0))
attempt(() -> interp1([0,1], [1,2], 0, "best"))
attempt(() -> interp1("a", [1,2], 0))
attempt(() -> interp2(zeros(2,2,2), 0, 0))
attempt(() -> histogram([1,2], 0))
attempt(() -> histogram([1,nan], 2))
attempt(() -> histogram([1,-inf]))
attempt(() -> histogram([1,2], [3,1]))
attempt(() -> histogram([1,2], 3, [2,1]))
attempt(() -> histogram("a"))
attempt(() -> bincount([-1]))
attempt(() -> bincount([0.5]))
attempt(() -> bincount([1], 0, [1,2]))
attempt(() -> bincount(nan))
attempt(() -> polyfit([1,2], [1,2], 2))
attempt(() -> polyfit([1,2], [1,2], -1))
attempt(() -> polyval("p", 1))
attempt(() -> conv([], [1]))
attempt(() -> conv([[1,2],[3,4]], [1]))
attempt(() -> conv([1], [1], "some"))
attempt(() -> histogram([1j]))
attempt(() -> conv2(zeros(2,2,2), [1]))
attempt(() -> cov([]))
attempt(() -> cov([1,2], [1]))
attempt(() -> corrcoef({1}))

% Long arrays: blocks, several tables of counts, nan and infinities among the numbers, edges that rounding makes equal
wrong = 0
for n = [3,100,257,1000]
    for bins = [1,7,100,5000]
        x = float64(mod((0..n-1).*37, 101))
        x[mod(0..n-1, 11) == 2] = nan
        x[mod(0..n-1, 29) == 3] = inf
        [least, most] = {min(x[x > -inf]), max(x[x < inf])}
        [h, e] = histogram(x, bins, [least, most])
        wanted = sum(isfinite(x)) % each number is counted once, at the edge that is not above it
        wrong += (sum(h) != wanted) + (e[0] != least) + (e[bins] != most)
        for b = 0..max(1, floor(bins/7))..bins-1
            last = b == bins-1
            inside = x >= e[b] && (last ? x <= e[b+1] : x < e[b+1])
            wrong += h[b] != sum(inside)
        end
    end
end
print wrong, " ", sum(histogram(float64(1e15) + float64(0..300)/300, 100)), " ", histogram(float64([0,1e-310,1e-310]), 2)
