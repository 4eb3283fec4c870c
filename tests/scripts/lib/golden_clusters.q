% Trees of groups and sets of complex numbers agree with SciPy and NumPy: tests/goldens/make.py.
import "kmeans.q"
g = load("tests/goldens/clusters.npz")
x = g.x
function [] = check(name, got, wanted)
    if !isequal(size(got), size(wanted)) || max(abs(got - wanted)) > 1e-12*max(abs(wanted))
        print name, " is wrong: ", size(got), " ", size(wanted)
    endif
end
for method = {"single", "complete", "average", "weighted", "centroid", "median", "ward"}
    check(method, linkage(x, method), getfield(g, method))
    check(method, linkage(g.pairs, method), getfield(g, method))
end
check("cityblock", linkage(x, "average", "cityblock"), g.cityblock)
check("chebychev", linkage(x, "complete", "chebychev"), g.chebychev)
check("maxclust", fcluster(g.average, 4, "maxclust"), g.few)
check("distance", fcluster(g.centroid, 1.2), g.near)
check("ward", fcluster(g.ward, 3), g.ward_groups)
points = [[0,0],[0,1],[5,5],[5,6.5],[10,0]]
print type(linkage(points)), " ", fcluster(linkage(points), 2), fcluster(linkage(points), 1, "maxclust")
print fcluster(linkage(points), 5, "maxclust"), fcluster(linkage(points), 9, "maxclust"), linkage([3])
% complex numbers: by their real parts, then their imaginary parts
z = g.z
[u, first, which, counts] = unique(z)
check("unique", u, g.unique)
check("alone", unique(z), g.unique)
check("first", first, g.first)
check("which", which, g.which)
check("counts", counts, g.counts)
[a, b] = {z[0..19], z[20..49]}
check("intersect", intersect(a, b), g.both)
check("setxor", setxor(a, b), g.apart)
check("setdiff", setdiff(a, b), g.without)
check("union", union(a, b), g.either)
[there, at] = ismember(a, b)
print isequal(float(there), g.isin), " ", isequal(b[at[there]], a[there])
print unique([1j,-1j,0,-0]), unique(complex([nan,1,nan,2], [1,nan,2,0])), intersect([1j,2], [2,3]), setdiff([1,2,nan], [2+0j])
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> linkage([1,2]))
attempt(() -> linkage([[1,nan],[2,3]]))
attempt(() -> linkage(points, "nearest"))
attempt(() -> linkage(points, "single", "taxi"))
attempt(() -> fcluster(linkage(points), 0, "maxclust"))
attempt(() -> fcluster(linkage(points), 2, "inconsistent"))
attempt(() -> fcluster([[0,9,1]], 2))
attempt(() -> fcluster([[0,1]], 2))
% Sets without positions are merged; the same as the elements that the positions give.
function [] = merged(p, q)
    [r, i] = intersect(p, q)
    print isequal(intersect(p, q), r)
    [r, i] = setdiff(p, q)
    print isequal(isnan(setdiff(p, q)), isnan(r)), isequal(sum(setdiff(p, q) == r), sum(r == r))
    [s, i, j] = setxor(p, q)
    t = setxor(p, q)
    print isequal(isnan(t), isnan(s)), isequal(sum(t == s), sum(s == s)), type(t) == type(s)
end
merged([3,nan,-0,5,1,nan], [0,nan,7,5])
merged(float64([]), float64([2,1,2]))
merged(float64(randi(50, 300)), float64(randi(90, 200)))
merged(int([3,1,2,3]), int([5,3]))
merged(int64([3,1,2,3]), int64([5,3]))
