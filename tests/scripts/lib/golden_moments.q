% Moments, counts on grids, polynomials and spaces of matrices agree with NumPy and SciPy: tests/goldens/make.py.
g = load("tests/goldens/moments.npz")
[x, m] = {g.x, g.m}
function [] = check(name, got, wanted, tolerance = 1e-9)
    far = isequal(size(got), size(wanted)) ? max(abs(got - wanted)) : inf
    if !(far <= tolerance*max(max(abs(wanted)), 1))
        print name, " is wrong: ", size(got), " ", size(wanted), " ", far
    endif
end
check("skewness", float64([skewness(x),skewness(x, 0)]), g.skew)
check("skewness of rows", skewness(m, [], 1), g.skew_rows)
check("kurtosis", float64([kurtosis(x),kurtosis(x, 0)]), g.kurt)
check("kurtosis of columns", kurtosis(m), g.kurt_columns)
check("mad", float64([mad(x),mad(x, 1)]), g.mad)
check("iqr", float64([iqr(x, [], "linear"),iqr(x)]), g.iqr)
check("iqr of rows", iqr(m, 1, "linear"), g.iqr_rows)
check("zscore", zscore(m), g.zscore)
check("zscore with n", zscore(m, 1, 1), g.zscore_n)
check("prctile", prctile(m, [10,60], 1), g.percent)
check("histogram2d", histogram2d(g.points[:,0], g.points[:,1], [5,7]), g.counts)
check("histogram2d of a range", histogram2d(g.points[:,0], g.points[:,1], 4, {[-1,1],[0,2]}), g.ranged)
e = float64([-2,-0.5,0,1.7])
check("histogram2d of edges", histogram2d(g.points[:,0], g.points[:,1], {e,e}), g.edged)
check("histcounts2", histcounts2(g.points[:,0], g.points[:,1], e, e), g.edged)
check("cummax", cummax(m, 1), g.cummax, 0)
check("cummin", cummin(m), g.cummin, 0)
[q, r] = deconv(x[0..11], x[20..23])
check("quotient", q, g.q)
check("rest", r, g.r)
check("poly", poly(x[0..4]), g.poly)
check("poly of a matrix", poly(m[:,0..5]), g.characteristic)
check("poly of complex roots", poly(g.c), g.complex)
check("compan", compan(x[0..5]), g.companion)
check("rem", rem(m*10, 3.3), g.rem)
check("rot90", rot90(m), g.rot90, 0)
check("rot90 three times", rot90(m, 3), g.rot270, 0)
check("orth", orth(g.low)*transpose(orth(g.low)), g.orth)
check("null_space", null_space(g.low)*transpose(null_space(g.low)), getfield(g, "null"))
check("null_space of a wide matrix", null_space(transpose(g.low))*transpose(null_space(transpose(g.low))), g.wide)

[y, i] = cummax([[1,nan,3],[nan,2,5],[4,1,5]])
print y, i, cummin(int16([5,7,3])), type(cummax(uint8([1,3,2]))), cummax(zeros(1,0)), cummax(7), cummin([nan,nan,2,nan])
print skewness([1,1,1]), " ", kurtosis([1,2,3], 0), " ", zscore([5,5,5]), mad([[1,5],[3,9]], 1), prctile([1,2,3,4],
    [25,50]), prctile([1,2,3,4], 50)
[z, mu, sigma] = zscore([1,2,3])
print z, mu, " ", sigma, normalize([1,2,5], "range"), normalize([[1,2],[3,6]], 1, "center"), normalize([3,4],
    "norm"), normalize([1,3], "scale")
print rescale(uint8([0,51,255])), rescale([[1,3],[2,5]], -1, 1), rescale([4,4]), rescale(zeros(1,0)), rescale([1,2],
                                                                                                              5, 5)
print deconv([1,5,6], [1,2]), deconv([1,2], [1,2,3]), deconv([1,0,1],
                                                             [1,1j]), poly([]), poly([1j,-1j]), poly(3), compan([2,4])
print rem(-4, 2), " ", rem(5, 0), " ", rem(3, inf), " ", rem(int8([-7,7]),
    int8(3)), fix([-1.5,1.5]), rot90([[1,2],[3,4]], 2), size(rot90(zeros(2,3,4)))
print perms([1,2,3]), perms([7]), size(perms([])), size(perms(1..6)), size(null_space(eye(3))), size(orth(zeros(3,2)))
print bin2dec("1011"), " ", hex2dec("fF"), " ", bin2dec({"1 0","11"}), dec2bin(10), " ", dec2bin([1,5]), dec2hex(255,
    4), " ", dec2bin(0), " ", dec2hex(2^53-1)
print histcounts2([0,1,1,5], [0,1,2,0], [0,1,2], [0,1,2]), histogram2d([], [], 2)

function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> cummax({1}))
attempt(() -> cummin([1,2], -1))
attempt(() -> skewness([]))
attempt(() -> skewness([1,2], 2))
attempt(() -> kurtosis([1j,2]))
attempt(() -> normalize([1,2], "max"))
attempt(() -> rescale([1,2], 2, 1))
attempt(() -> rescale([1,nan]))
attempt(() -> histcounts2([1,2], [1,2]))
attempt(() -> histcounts2([1,2], [1,2], 3, 3))
attempt(() -> histcounts2([1,2], [1,2,3], [0,1], [0,1]))
attempt(() -> histcounts2([1,2], [1,2], [1,0], [0,1]))
attempt(() -> histogram2d([1,2], [1,2], [1,2,3]))
attempt(() -> deconv([1,2], [0,1]))
attempt(() -> deconv([], 1))
attempt(() -> poly([[1,2,3],[4,5,6]]))
attempt(() -> compan([0,1]))
attempt(() -> perms(1..11))
attempt(() -> rot90([1,2], 0.5))
attempt(() -> rem("a", 2))
attempt(() -> bin2dec("102"))
attempt(() -> hex2dec(""))
attempt(() -> dec2bin(-1))
attempt(() -> dec2hex(2.5))
attempt(() -> orth([[1,2]], -1))
