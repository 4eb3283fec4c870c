function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
m = [[1,5,2],[4,4,9]]
u : vec[uint8] = [200, 3, 100]
x = [3, nan, 1, 2]
print diff([1,4,9,16]), " ", diff([5]), diff([]), " ", diff(7)
print diff(m), diff(m, 0), diff(m, 1)
print diff(u), " ", diff([1j, 3, 2+2j]), " ", diff([1, inf, nan])
print trapz([1,2,3]), " ", trapz([0,1,4], [1,2,3]), " ", trapz([]), " ", trapz(5), " ", trapz(u), " ", trapz(x)
print trapz([], m), trapz([], m, 1), trapz([0,2], m)
print cumulative_trapezoid([1,2,3]), " ", cumulative_trapezoid([0,1,4], [1,2,3]), cumulative_trapezoid([])
print cumulative_trapezoid([], m, 1)
print percentile([1,2,3,4], 50), " ", percentile([1,2,3,4], [0,25,100]), " ", percentile(5, 30), " ", percentile(u, 50)
print percentile(x, 50), " ", percentile([1,inf,2], 100), " ", percentile(m, 50), percentile(m, 50, 0), percentile(m, [0,100], 1)
methods = {"linear", "lower", "higher", "nearest", "midpoint"}
for i = 0..4
    method = methods[i]
    print method, " ", quantile([1,2,4,8], [0.1,0.5,0.9], null, method)
end
print mode([3,1,3,1,2]), " ", mode(4), " ", mode(u), " ", mode([nan,nan,1]), " ", mode(m, 1)
print nansum(x), " ", nanmean(x), " ", nanmin(x), " ", nanmax(x), " ", nansum([]), " ", nansum(nan), " ", nanmean(nan)
print nanmin([nan, nan]), " ", nanmax([nan, inf]), " ", nansum([[1,nan],[2,3]], 0), " ", nanmean([[1,nan],[2,3]], 1)
print type(nansum(u, 1)), " ", type(percentile(float(u), [50]))
attempt(() -> diff("x"))
attempt(() -> trapz([1,2], [1,2,3]))
print trapz([1j, 2]), " ", cumulative_trapezoid([1j, 2, 3]), " ", var([1j, 1, 2+1j]), " ", std([[1j,1],[2,0]], 0), " ", type(var([1j,2], 1))
print var([1,2,4], null, 0), " ", std([1,2,4], 1, 0), " ", var(7), " ", var([1,nan]), " ", var(u), " ", var([[1,2],[3,5]], 0), " ", type(var(jsondecode("[1,2]"), 1))
print median([3,nan,1]), " ", nanmedian(x), " ", nanmedian([nan,nan]), " ", nanvar(x), " ", nanstd(x), " ", nanvar([nan,2]), " ", nanvar([nan]), " ", nanmedian(m), " ", nanstd([[1,nan],[2,3]], 0)
for method = {"hazen", "weibull", "median_unbiased", "normal_unbiased", "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"}
    print method, " ", quantile([4,1,2,8], [0,0.1,0.25,0.5,0.9,1], null, method)
end
attempt(() -> var("a"))
attempt(() -> var([1,2], 0, "a"))
attempt(() -> nanmedian([1j]))
attempt(() -> quantile([1,2], 0.5, null, "hasen"))
attempt(() -> percentile([], 50))
attempt(() -> percentile([1,2], 101))
attempt(() -> quantile([1,2], 0.5, null, "best"))
attempt(() -> mode([]))
attempt(() -> nanmin({1}))
attempt(() -> nanmax([1j]))
attempt(() -> nanmean([], 0))
attempt(() -> nansum([1], 9))
[value, count] = mode([3,1,3,1,2])
print value, count
[value, count] = mode([[1,2,2],[3,3,3]], 1)
print value, count
[value, count] = mode(uint64([18446744073709551615,18446744073709551614,18446744073709551615]))
print count
[value, count] = mode(7)
print value, count
