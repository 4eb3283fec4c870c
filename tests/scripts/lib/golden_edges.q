% Derivatives and edges of images agree with NumPy, SciPy and scikit-image: tests/goldens/make.py.
import "edges.q"
g = load("tests/goldens/edges.npz")
function [] = check(name, got, wanted)
    print name, " ", allclose(got, wanted, 1e-4, 1e-5)
end
[right, down] = gradient(g.z, [2,0.5])
check("gradient right", right, g.right)
check("gradient down", down, g.down)
print gradient([1,4,9,16]), gradient(float64([0,1,4])), gradient([1,3])
check("laplace", laplace(g.z), g.laplace)
check("sobel", sobel(g.z, 1), g.sobel)
check("prewitt", prewitt(g.z, 0), g.prewitt)
check("gaussian_laplace", gaussian_laplace(g.z, 1.4), g.log)
print "canny ", isequal(canny(g.z, 0.5, 1.5, 1.2) != 0, g.canny != 0), " ", sum(g.canny)
check("length", sobel(g.z), hypot(sobel(g.z, 0), sobel(g.z, 1)))
% Rounding is no edge: thresholds of mostly flat images, which the rounding of 3.3 would decide, and constant images.
for wide = [0,1]
    flat = wide ? float64(3.3*ones(120,120)) : 3.3*ones(120,120)
    square = copy(flat)
    square[40..59,40..59] = 200
    print sum(canny(square)), " ", sum(edge(square, "canny")), " ", sum(canny(1e-20*square)), " ", sum(canny(square, 0, 40)), " ", _
          sum(canny(flat)), sum(canny(flat, 0, 0)), sum(edge(flat)), sum(edge(flat, "log")), sum(edge(flat, "canny")), sum(canny(0*flat))
end
% A step has one line of edges; a disc has a closed one.
step = zeros(6,20)
step[:,4..19] = 10
for method = {"sobel", "prewitt", "canny"}
    print method, " ", edge(step, method)[2,:]
end
[c, r] = meshgrid(0..40, 0..40)
disc = 100*((c-20).^2 + (r-20).^2 < 150)
[bw, threshold] = edge(disc, "log")
print sum(bw) > 50 && sum(bw) < 110, " ", all(abs(hypot(c-20, r-20)[bw] - sqrt(150)) < 2), " ", threshold > 0
print scharr([[0,1,2],[0,1,2],[0,1,2]], 1), imgradientxy([[0,1,2],[0,1,2],[0,1,2]], "central")
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> gradient([1]))
attempt(() -> gradient([1,2], 0))
attempt(() -> sobel(step, 2))
attempt(() -> edge(step, "cany"))
attempt(() -> edge(step, "sobel", [1,2]))
[_, used] = edge(step, "canny", [2,3])
print used
[_, used] = edge(step, "canny")
print numel(used), " ", used[0] > 0, " ", abs(used[0]/used[1] - 0.4) < 1e-6
attempt(() -> edge(step, "canny", [3,2]))
attempt(() -> canny(step, -1, 2))
attempt(() -> gaussian_laplace(step, 0))
attempt(() -> imgradientxy(step, "roberts"))
attempt(() -> canny(zeros(0,0)))
attempt(() -> canny([[1,2],[nan,3]]))
attempt(() -> edge([[1,2],[inf,3]], "log"))
attempt(() -> sobel(step, 0, "foo"))
attempt(() -> prewitt(step, null, "foo"))
attempt(() -> laplace(step, "foo"))
attempt(() -> gaussian_laplace(step, 1, "foo"))
attempt(() -> gaussian_filter(step, 1, 0, "foo"))
