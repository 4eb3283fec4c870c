% Regions and contrast of images agree with scikit-image and OpenCV: tests/goldens/make.py.
import "regions.q"
import "imcontrast.q"
import "immorphology.q"
g = load("tests/goldens/regions.npz")
bw = g.bw != 0
function [] = check(name, got, wanted)
    print name, " ", allclose(float64(got), wanted, 1e-4, 1e-4)
end
check("imreconstruct", imreconstruct(g.z - 0.02, g.z), g.eight)
check("4 neighbours", imreconstruct(g.z - 0.03, g.z, 4), g.four)
check("imfill", imfill(bw), g.holes)
check("imregionalmax", imregionalmax(g.z), g.maxima)
check("imregionalmin", imregionalmin(0 - g.z), g.maxima)
check("watershed", watershed(g.z, g.marks), g.flood)
check("watershed 4", watershed(g.z, g.marks, 4), g.flood4)
% Lines separate basins: no pixel has a neighbour of another basin, and every pixel of a line has two.
w = watershed(g.z, null, 8, true)
big = w.*(w > 0) + 1000*(w == 0)
hi = imdilate(w, ones(3,3))
lo = 0 - imdilate(0 - big, ones(3,3))
print "lines ", sum(w == 0) > 100, " ", all((hi == lo)[w > 0]), " ", all((hi > lo)[w == 0]), " ", max(w) == max(watershed(g.z))
check("bwskel", bwskel(bw), g.skel)
check("thin", bwmorph(bw, "thin", inf), g.thin)
check("bwareaopen", bwareaopen(bw, 30), g.large)
check("imclearborder", imclearborder(bw), g.inner)
s = regionprops(bw, g.z)
check("Area", s.Area, g.area)
check("Centroid", s.Centroid, horzcat(transpose(g.centroid_0), transpose(g.centroid_1)))
check("BoundingBox", s.BoundingBox[:,0..1] + s.BoundingBox[:,2..3], _
      horzcat(transpose(g.bbox_2), transpose(g.bbox_3)))
check("MajorAxisLength", s.MajorAxisLength, sqrt(g.axis_major_length.^2 + 4/3))    % pixels are squares, not points
check("MinorAxisLength", s.MinorAxisLength, sqrt(g.axis_minor_length.^2 + 4/3))
check("Eccentricity", s.Eccentricity, _
      sqrt(1 - (g.axis_minor_length.^2 + 4/3)./(g.axis_major_length.^2 + 4/3)))
check("EquivDiameter", s.EquivDiameter, g.equivalent_diameter_area)
check("Extent", s.Extent, g.extent)
check("MeanIntensity", s.MeanIntensity, g.mean_intensity)
check("histeq", histeq(g.z), g.equal)
print "adapthisteq ", max(abs(adapthisteq(g.grey, 2, [7,3]) - g.clahe)) < 1
% Small cases.
x = [[0,0,0,0,0],[0,3,3,3,0],[0,3,1,3,0],[0,3,3,3,0],[0,0,0,0,0]]
print imfill(x)[2,:], imclearborder(x)[2,:], isequal(imclearborder(x + 1), x + 1), type(imfill(x > 0))
print imhmax([0,5,0,7,0], 6), imextendedmax([0,5,0,7,0], 6)
print regionprops([[1,0,0],[0,1,0],[0,0,1]]).Orientation, regionprops(zeros(2,2)).Area, regionprops([[0,2],[0,2]]).Area
print bwboundaries([[0,0,0,0],[0,1,1,0],[0,1,1,0],[0,0,0,1]]), bwboundaries([1]), bwboundaries([[1,2],[1,0]])
print bwperim(ones(3,4)), bwperim([[1,1,1],[1,1,1],[1,1,1]], 8)
line = [[0,0,0,0,0],[1,1,1,1,1],[0,0,1,0,0],[0,0,1,0,0],[0,0,0,0,0]]
for op = {"clean", "fill", "remove", "majority", "erode", "dilate", "open", "close", "endpoints", "branchpoints"}
    print op, " ", reshape(bwmorph(line, op), [1,25])
end
print watershed([3,1,3,2,1]), watershed([3,1,3,2,1], null, 4, true), watershed([3,1,3,2,1], [0,1,0,0,0], 8, false, [1,1,1,0,0])
print imadjust([0,50,100], [0,100]), imadjust([0,50,100], [0,100], [1,0], 2), stretchlim(0..100), imadjust([7,7])
print imreconstruct(zeros(0,3), zeros(0,3)), imregionalmax(zeros(0,2)), bwboundaries(zeros(2,2))
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> imreconstruct([1,2], [1]))
attempt(() -> imfill(ones(2,2,2)))
attempt(() -> imfill(ones(2,2), 6))
attempt(() -> bwareaopen(x, -1))
attempt(() -> watershed(x, [1,2]))
attempt(() -> watershed([1,2], [0.5,0]))
attempt(() -> bwmorph(x, "thicken"))
attempt(() -> bwmorph(x, "thin", -1))
attempt(() -> regionprops([0.5,2]))
attempt(() -> imhmax(x, -1))
attempt(() -> imadjust(x, [3,1]))
attempt(() -> imadjust(x, [1,3], [0,1], 0))
attempt(() -> histeq(x, 1))
attempt(() -> adapthisteq(x, 0))
attempt(() -> adapthisteq(x, 2, [0,2]))
attempt(() -> stretchlim(x, [0,2]))
attempt(() -> adapthisteq([[0/0,1],[2,300]]))
attempt(() -> histeq([[1/0,1],[2,300]]))

s = regionprops([[1,1,0,0],[1,1,0,1],[0,0,0,1]], "PixelIdxList", "Circularity")
print s.PixelIdxList, " ", s.Circularity, " ", regionprops([[3,0,1],[0,1,3]], "PixelIdxList").PixelIdxList, " ", _
      regionprops(zeros(2,2), "PixelIdxList").PixelIdxList
