% Filters of images agree with SciPy: tests/goldens/make.py.
import "imfilter.q"
import "immedfilt.q"
import "immorphology.q"
import "boxfilter.q"
import "imresize.q"
import "colortransform.q"
g = load("tests/goldens/filters.npz")
function [] = check(name, got, wanted)
    print name, " ", allclose(got, wanted, 1e-4, 1e-5)
end
check("imfilter", imfilter(g.z, g.mask), g.imfilter)
check("circular", imfilter(g.z, g.mask, [], "circular"), g.wrapped)
check("clamped", imfilter(g.z, g.mask, [], "clamped"), g.edge)
check("zeros", imfilter(g.z, g.mask, [], "zeros"), g.zeros)
check("gaussian_filter", gaussian_filter(g.z, 1.5), g.gaussian)
check("immedfilt", immedfilt(g.z, 2), g.median)
check("imerode", imerode(g.z, g.hit), g.erode)
check("imdilate", imdilate(g.z, g.hit), g.dilate)
check("boxfilter", boxfilter(g.z, 2), g.box)
check("imresize", imresize(g.z, 2), g.twice)
check("rgb2hsv", rgb2hsv(g.rgb), g.hsv)
check("hsv2rgb", hsv2rgb(g.hsv), g.rgb)
