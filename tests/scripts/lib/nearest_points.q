% knnsearch finds the nearest of many points with a tree: compared with all distances, sorted.
function [idx, d] = by_sorting(x, y, k)
    [s, i] = sort(pdist2(y, x), 1)
    [idx, d] = {i[:,0..k-1], s[:,0..k-1]}
end
function [] = compare(what, x, y, k)
    [idx, d] = knnsearch(x, y, k)
    [wanted, near] = by_sorting(x, y, k)
    print what, ": ", isequal(idx, wanted), " ", max(abs(d - near)) <= 2e-7*max(near), " ", type(d) == type(near)
end
x = rand(1100,3)
y = rand(60,3)
compare("in space", x, y, 1)
compare("several", x, y, 5)
compare("float64", float64(x), float64(y), 2)
compare("far away", x, y + 10, 3)
compare("equally near ones", round(4*x), round(4*y), 4)
compare("all alike", zeros(2100,2), zeros(32,2), 3)
compare("on a line", x[:,0], y[:,0], 3)
compare("not finite", where(x > 0.99, inf, x), y, 2)
distances = (x, y) -> sum(knn_sum(x, y))
function s = knn_sum(x, y)
    [idx, d] = knnsearch(x, y, 2)
    s = d.*[1,3]
end
function s = sorted_sum(x, y)
    [idx, d] = by_sorting(x, y, 2)
    s = d.*[1,3]
end
[dx, dy] = grad(distances, x, y)
[wanted_x, wanted_y] = grad((x, y) -> sum(sorted_sum(x, y)), x, y)
print "gradients: ", max(abs(dx - wanted_x)) < 1e-5, " ", max(abs(dy - wanted_y)) < 1e-5
try
    [idx, d] = knnsearch(x, y[:,0..1])
catch e
    print e
end
