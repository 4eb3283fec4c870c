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
attempt(() -> union("a", [1]))
attempt(() -> intersect([1], {2}))
attempt(() -> setdiff([1j], [2]))
attempt(() -> ismember("a", [1]))
