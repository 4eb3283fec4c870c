% Thresholds, shapes, masks of filters and hulls agree with SciPy, scikit-image and Matplotlib: tests/goldens/make.py.
import "imthreshold.q"
import "immorphology.q"
import "regions.q"
import "imoverlay.q"
g = load("tests/goldens/masks.npz")
[z, bw] = {g.z, g.bw}
function [] = check(name, got, wanted, tolerance = 1e-5)
    if !isequal(size(got), size(wanted)) || !allclose(got, wanted, tolerance, tolerance*max(abs(wanted)))
        print name, " is wrong: ", size(got), " ", size(wanted)
        print max(abs(got - wanted))
    endif
end
check("multithresh", multithresh(z, 3, 64), g.otsu)
check("multithresh of 1", multithresh(z, 1, 256), [graythresh(z)], 1e-12)
check("threshold_local", threshold_local(z, 9), g.gaussian)
check("threshold_local by means", threshold_local(z, 7, "mean", 3), getfield(g, "mean"))
check("threshold_local by medians", threshold_local(z, 5, "median"), getfield(g, "median"))
check("imquantize", imquantize(z, [50,90.5,200]), g.digits + 1)
check("bweuler", [bweuler(bw), bweuler(bw, 4)], g.euler)
check("bwconvhull", bwconvhull(bw[0..19,0..19]), g.hull)
check("bwconvhull of objects", bwconvhull(bw, "objects"), g.objects)
rows = size(bw,0)
columns = size(bw,1)
check("bwhitmiss", bwhitmiss(bw, g.hit, g.miss)[1..rows-2,1..columns-2], g.hits)
check("bwhitmiss of an interval", bwhitmiss(bw, g.hit - g.miss), bwhitmiss(bw, g.hit, g.miss))
check("octagon", strel("octagon", 6), g.octagon)
check("disk", strel("disk", 7, 0), g.disk7)
check("diamond", strel("diamond", 4), g.diamond)
check("fspecial disk", fspecial("disk", 3.7), getfield(g, "disk"), 2e-4)
check("fspecial gaussian", fspecial("gaussian", [7,5], 1.3), g.gauss)
[k, area] = convhull(g.points)
first = find_index_max(0 - g.points[:,0])
check("corners of a hull", g.points[k[0..numel(k)-2],:], g.points[circshift(g.vertices[0..numel(g.vertices)-2],
                                                                            0-find(g.vertices == first)[0,1], 1),:])
check("area of a hull", [area], g.area)
check("inpolygon", inpolygon(g.many[:,0], g.many[:,1], g.corners[:,0], g.corners[:,1]), transpose(g.inside))
check("imhist", imhist(z, 16), g.levels)

% Values of MATLAB's documentation.
print size(strel("disk", 5)), size(strel("disk", 10)), size(strel("disk", 15)), sum(strel("disk",
    5)), size(strel("line", 10, 45))
print strel("line", 7, 30), strel("line", 3, 90), strel("square", 2), strel("rectangle", [1,3]), strel("disk", 2)
print fspecial("gaussian")[0,0..1], fspecial("log")[0,0..2], fspecial("unsharp")[1,0..1], fspecial("laplacian",
    0), fspecial("disk", 1)[0,0..1]
print fspecial("motion", 5), fspecial("motion", 3, 135), size(fspecial("motion", 20,
    45)), fspecial("sobel"), fspecial("prewitt"), fspecial("average", 2)
x = [[10,200],[90,110]]
print imbinarize(x), imbinarize(x, 100), imbinarize(x, [[0,255],[90,100]]), imbinarize(uint8(x), 1)
print adaptthresh(x), adaptthresh(x, 0.9, "dark", 3), adaptthresh(x, 0.5, "bright", 3,
    "gaussian"), isequal(imbinarize(z, "adaptive"), z > adaptthresh(z))
[counts, at] = imhist(uint8(x))
print sum(counts), " ", counts[90], " ", numel(counts), " ", at[255]
[counts, at] = imhist([-1,0,0.3,0.7,1,2], 3, [0,1])
print counts, at
L = [[0,1],[2,3]]
print label2rgb(L), label2rgb(L, [[1,0,0],[0,1,0],[0,0,1]], "black", "noshuffle", 1), label2rgb([4,1,2,3,4], "jet",
                                                                                                "white", "shuffle")
print imoverlay(x, x > 100), imoverlay(x, x > 100, "#ff8000")[:,:,1], imoverlay(x, x > 100, [0,0,1])[:,:,2]
y = [[200,10],[90,110]]
print imfuse(x, y), imfuse(x, y, "blend"), imfuse(x, y, "diff", "none"), size(imfuse(x, y, "montage")), imfuse(x, y,
    "checkerboard", "none")
print bwconvhull([[0,0],[0,0]]), bweuler(zeros(0,0)), bweuler([[1,0],[0,1]], 4)
[in, on] = inpolygon([[0.5,0],[2,0.5]], [[0.5,0.5],[0.5,0]], [0,1,1,0], [0,0,1,1])
print in, on
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> strel("disc", 3))
attempt(() -> strel("disk", 3, 5))
attempt(() -> strel("octagon", 4))
attempt(() -> strel("line", 0))
attempt(() -> strel("square", [3,3]))
attempt(() -> strel("disk", 1e9))
attempt(() -> strel("rectangle", 3))
attempt(() -> strel("square", 3, 45))
attempt(() -> fspecial("mean"))
attempt(() -> fspecial("gaussian", 3, 0))
attempt(() -> fspecial("laplacian", 2))
attempt(() -> fspecial("average", [3,3,3]))
attempt(() -> multithresh(x, 0))
attempt(() -> multithresh([1,1,2], 2))
attempt(() -> multithresh(zeros(0,0)))
attempt(() -> imquantize(x, [2,1]))
attempt(() -> imquantize(x, [1,2], [1,2]))
attempt(() -> imbinarize(uint8(x), 0.5))
attempt(() -> imbinarize(zeros(2,2,3)))
attempt(() -> imbinarize(x, "otsu"))
attempt(() -> imbinarize(x, [1,2]))
attempt(() -> threshold_local(x, 4))
attempt(() -> threshold_local(x, 3, "max"))
attempt(() -> adaptthresh(x, 2))
attempt(() -> adaptthresh(x/255, 0.5, "dark"))
attempt(() -> imhist(x/255))
attempt(() -> imhist(x, 1))
attempt(() -> label2rgb([0.5]))
attempt(() -> label2rgb(L, [[1,0,0]]))
attempt(() -> label2rgb(L, "gold"))
attempt(() -> imoverlay(x, [1,0]))
attempt(() -> imoverlay(x, x > 1, "pink"))
attempt(() -> imoverlay(x, x > 1, [255,0,0]))
attempt(() -> imfuse(x, y, "add"))
attempt(() -> bwhitmiss(x, [1,2]))
attempt(() -> bwhitmiss(x, [1,0], [1,0]))
attempt(() -> bweuler(x, 6))
attempt(() -> bwconvhull(x, "all"))
attempt(() -> convhull([1,2,3], [1,2,3]))
attempt(() -> convhull([1,2,3]))
attempt(() -> inpolygon(0, [0,1], [0,1,1], [0,0,1]))
