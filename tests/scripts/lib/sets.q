function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
u : vec[uint8] = [7, 3, 7]
print union([3,1,2],[2,5]), " ", union([], [2,1,2]), " ", union(1, 2), " ", union([nan, 1], [nan]), " ", union([[1,2],[3,4]], [inf])
print intersect([3,1,2,3],[3,2,9]), " ", intersect([1], []), " ", intersect(5, 5), " ", intersect([nan, inf], [inf, nan])
print setdiff([3,1,2,3],[2,9]), " ", setdiff([], [1]), " ", setdiff([2,1,1], []), " ", setdiff(4, 4)
print ismember(3, [1,2,3]), " ", ismember([[1,2],[3,4]], [2,3]), " ", ismember([1,2], []), " ", ismember(nan, [nan])
print ismember("b", {"a", "b"}), " ", ismember("c", {"a", "b"}), " ", ismember(2, {1, "x", 2}), " ", ismember("c", {})
print type(union(u, u)), " ", union(u, u), " ", type(union(u, [1.5])), " ", type(intersect(u, [3])), " ", type(setdiff(u, [3.5]))
print setxor([3,1,2,3],[2,5]), " ", setxor([], [1,1]), " ", setxor(1, 1), " ", setxor([nan], [nan, inf])
[c, i, j] = intersect([5,3,3,1], [1,3,9])
print c, " ", i, " ", j
[c, i] = setdiff([5,3,3,1], [1])
print c, " ", i
[there, i] = ismember([3,7], [7,3,3])
print there, " ", i
names = {"pear", "apple", "fig", "apple"}
print union(names, {"kiwi"}), " ", intersect(names, {"fig", "nut"}), " ", setdiff(names, {"fig"}), " ", setxor(names, {"fig", "nut"}), " ", union(names, [])
[there, i] = ismember({"fig", "nut"}, names)
print there, " ", i, " ", ismember({}, names)
[there, i] = ismember(names, [])
print there, " ", i, " ", ismember({}, []), " ", size(ismember({}, [])), " ", ismember({"a"}, [])
[u, first, which, counts] = unique(names)
print u, " ", first, " ", which, " ", counts
[u, first, which, counts] = unique([3,1,3,nan,-0,0,nan])
print u, " ", first, " ", which, " ", counts
print unique([]), " ", unique({}), " ", unique(5), " ", unique(u < 2), " ", type(unique(names))
a : vec[int64] = [0]
a[0] = int(9007199254740992) + int(1)
print union(a, int([5])), " ", setdiff(a, a - 1), " ", type(unique(a))
[s, i] = sort(names)
print s, " ", i, " ", sort(names, "descend"), " ", sort({})
attempt(() -> unique({"a", 1}))
attempt(() -> sort({1, "a"}))
attempt(() -> setxor({"a"}, [1]))
attempt(() -> union("a", [1]))
attempt(() -> intersect([1], {2}))
attempt(() -> ismember("a", [1]))
[c, i, j] = union([5,3,3,1], [9,1,2,9])
print c, i, j
[c, i, j] = setxor([5,3,3,1], [9,1,2,9])
print c, i, j
[c, i, j] = union(names, {"kiwi", "fig"})
print c, i, j
