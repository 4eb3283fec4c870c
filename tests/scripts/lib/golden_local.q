% Windows, blocks and positions in images agree with SciPy and scikit-image: tests/goldens/make.py.
import "imlocal.q"
g = load("tests/goldens/local.npz")
z = g.z
function [] = check(name, got, wanted, tolerance = 1e-5)
    if !isequal(size(got), size(wanted)) || !allclose(got, wanted, tolerance, tolerance*max(abs(wanted)))
        print name, " is wrong: ", size(got), " ", size(wanted)
        print max(abs(got - wanted))
    endif
end
check("ordfilt2", ordfilt2(z, 2, g.domain), g.third)
check("uniform_filter", uniform_filter(z, [3,5]), g.mean)
check("stdfilt", stdfilt(z, 5), g.std)
check("rangefilt", rangefilt(z, 5), getfield(g, "range"))
check("wiener2", wiener2(z, 5), g.wiener)
check("wiener2 of a known noise", wiener2(z, [3,5], 9), g.wiener_noise)
check("imbilatfilt", imbilatfilt(z, 4, 1.5, 2), g.bilateral)
check("normxcorr2", normxcorr2(g.template, z, "valid"), g.match)
c = normxcorr2(g.template, z)
print size(c), " ", ind2pos(size(c), find_index_max(c)) - [14,19], " ", abs(max(c) - 1) < 1e-9
check("phase_correlation", phase_correlation(g.moved, z, 50), getfield(g, "shift"))
print phase_correlation(circshift(z, [3,-4]), z)
check("peak_local_max", peak_local_max(z, 2), g.peaks)
check("harris", harris(z), g.harris)
check("im2col", im2col(z, [3,4]), g.sliding)
check("col2im", col2im(im2col(z, [7,5], "distinct"), [7,5], size(z)), z)
print im2col([[1,2,3],[4,5,6]], [2,2], "distinct"), blockproc([[1,2,3],[4,5,6]], [1,2], b -> 0*b + sum(b)), ordfilt2([3,1,2], -1), rank_filter([3,1,2], 0, [1,1,1])
check("imsharpen", imsharpen(z, 1, 2), 3*z - 2*gaussian_filter(z, 1))
% A line of Hough: all its pixels vote for one angle and distance.
bw = zeros(40,50)
bw[12,:] = 1
bw[:,30] = 1
[H, theta, rho] = hough(bw)
p = houghpeaks(H, 2)
print max(H), " ", rho[p[0,0]], " ", theta[p[0,1]], ", ", H[p[1,0],p[1,1]], " ", rho[p[1,0]], " ", theta[p[1,1]]
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> ordfilt2(z, 9))
attempt(() -> ordfilt2(z, 0, zeros(2,2)))
attempt(() -> uniform_filter(z, 4))
attempt(() -> wiener2(z, 3, -1))
attempt(() -> imbilatfilt(z, 0))
attempt(() -> normxcorr2(ones(2,2), z))
attempt(() -> normxcorr2(z, [1,2]))
attempt(() -> phase_correlation(z, [1]))
attempt(() -> peak_local_max(z, 0))
attempt(() -> im2col(z, [50,1]))
attempt(() -> im2col(z, [2,2], "tiles"))
attempt(() -> col2im(ones(4,4), [2,2], [3,2]))
attempt(() -> blockproc(z, [0,1], x -> x))
attempt(() -> houghpeaks(H, 0))
