% take_along, add_along, rank_positions, and derivatives of order statistics, which are made of them
import "immorphology.q"
import "immedfilt.q"
import "imfilter.q"
import "imresize.q"
x = [[3,1,2],[9,7,8]]
print take_along(x, [[2,0],[1,1]], 1), take_along(x, [[1,0,1]], 0), take_along([4,5,6], [2,2,0], 1)
print add_along(x, [[0,0,1],[3,3,3]], 1, 4), add_along(x, [[1,0,1],[1,0,0]], 0, 2)
print type(take_along(uint8([1,2]), [[1]], 1)), " ", type(add_along(float64([1,2]), [0,0], 1, 1))
print rank_positions([3,1,3,0/0,1], [0,1,2,3,4]), rank_positions(x, [1], 0), rank_positions(x, [0,2], 1)
attempt = (what, f) -> print(what, ": ", message(f))
function m = message(f)
    try
        m = f()
    catch e
        m = e
    end
end
attempt("position", () -> take_along(x, [[3],[0]], 1))
attempt("fraction", () -> add_along([1,2], [0,0.5], 1, 2))
attempt("nan", () -> take_along([1,2], [nan], 1))
attempt("size", () -> take_along(x, [[0,1,2]], 1))
attempt("as many", () -> add_along(x, [[0],[1]], 1, 3))
attempt("rank", () -> rank_positions([1,2], 2))
attempt("empty", () -> rank_positions([], 0))
attempt("complex", () -> take_along([1,2], [1j], 1))
attempt("dimension", () -> take_along([1,2], [1], 9))

% of equal elements the first one is the one that an order statistic selects
w = [1,10,100,1000]
print grad(x -> sum(w.*movmax(x, 3)), [2,2,1,2])
print grad(x -> sum(w.*sort(x)), [2,1,2,1]), grad(x -> median(x), [1,3,3,2,3]), grad(x -> quantile(x, 0.25), [4,1,4,2])
print grad(x -> sum(medfilt(x)), [[1,1,2],[1,5,2],[2,2,9]])
print grad(x -> sum(imerode(x, [[0,1,0],[1,1,1],[0,1,0]])), [[1,1,2],[1,0,2],[2,2,9]])
print grad(x -> sum(imerode(x, [[0,0,0],[0,0,1],[0,0,0]])), [[1,5],[4,2]])
print grad(x -> nanmedian(x), [0/0,1,4,3,2]), grad(x -> sum(max(x, [], 1)), [[1,1],[0/0,3]])

% derivatives of images: with and without channels, windows larger than the image, every border
randseed(3)
image = float64(rand(5,4))
colours = float64(rand(4,3,2))
cross = [[0,1,0],[1,1,1],[0,1,0]]
for x = {image, colours}
    print gradcheck(x -> imdilate(x, cross), x), gradcheck(x -> imerode(x, [[1,0,1,1]], [0,3]), x)
    print gradcheck(x -> imdilate(x, ones(3,3)), x), gradcheck(x -> imerode(x, ones(9,2)), x)
    print gradcheck(x -> immedfilt(x, 1), x), gradcheck(x -> immedfilt(x, 3), x), gradcheck(x -> movmin(x, 3, 0), x)
    for border = {"mirror", "reflect", "circular", "clamped", "zeros"}
        printf("%s %d %d", border, gradcheck((x, m) -> imfilter(x, m, [2,0], border), x, float64(rand(3,4))), _
               gradcheck(x -> gaussian_filter(x, 1.2, 5, border), x))
    end
end
print gradcheck(x -> grad(v -> sum(imdilate(v, cross).^2), x), image)

% resized images: smaller, larger, one row or column
for x = {image, colours}
    print gradcheck(x -> imresize(x, 0.5), x), gradcheck(x -> imresize(x, [7,3], "bicubic"), x), gradcheck(x -> imresize(x, [1,9]), x)
end
print gradcheck(x -> grad(v -> sum(imresize(v, [3,3]).^3), x), image)

% Lines without elements have no extremes; no lines have no positions.
[m, i] = max(zeros(0,3), [], 1)
print size(m), size(i)
try
    [m, i] = max(zeros(0,3), [], 0)
catch e
    print e.message
end
print size(grad(x -> sum(max(x, [], 1)), zeros(0,3)))
