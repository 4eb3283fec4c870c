% The motion between images and active contours agree with scikit-image: tests/goldens/make.py.
import "opticalflow.q"
import "segmentation.q"
g = load("tests/goldens/motion.npz")
function [] = check(name, got, wanted, tolerance)
    if !isequal(size(got), size(wanted)) || max(abs(got - wanted)) > tolerance
        print name, " is wrong: ", size(got), " ", size(wanted), " ", max(abs(got - wanted))
    endif
end
[down, right] = opticalflow(g.x, g.y)
check("down", down, g.down, 1e-6)
check("right", right, g.right, 1e-6)
[down, right] = opticalflow(g.x[0..19,0..29], g.y[0..19,0..29], 4, 3)
check("down on one level", down, g.small_down, 1e-9)
check("right on one level", right, g.small_right, 1e-9)
j = float64(0..89)
[down, right] = opticalflow(float32(g.x), float32(g.y))
print type(down), mean(abs(down - g.down)) < 1e-3
% Integer images count, an image without structure does not move, and windows may be larger than the image.
[down, right] = opticalflow(uint8(100 + 50*g.x), uint8(100 + 50*g.y))
print type(right), mean(abs(down - 1.5 - sin(j/20))) < 0.2
[down, right] = opticalflow(ones(5,6), ones(5,6))
print max(abs(down)), max(abs(right))
[down, right] = opticalflow([[0,1],[1,2]], [[0,1],[1,2]], 9, 1)
print max(abs(down)), max(abs(right))
% -- contours
check("checkerboard", float64(activecontour(g.image, null, 20, 2)), g.checkerboard, 0)
check("weights", float64(activecontour(g.image, g.image > 0.8, 16, 1, 1, 3)), g.weights, 0)
check("rough", float64(activecontour(g.image, g.image > 0.8, 5, 0)), g.rough, 0)
print type(activecontour(uint8([[0,0,9],[0,9,9]]), [[0,0,1],[0,0,1]], 3, 0)), activecontour(uint8([[0,0,9],[0,9,9]]), [[0,0,1],[0,0,1]], 3, 0)
print isequal(chan_vese(g.image, null, 7), activecontour(g.image, null, 7)), isequal(activecontour(g.image, g.image > 0.8, 0), g.image > 0.8)
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> opticalflow(ones(3,3), ones(3,4)))
attempt(() -> opticalflow(ones(1,3), ones(1,3)))
attempt(() -> opticalflow(ones(3,3), nan*ones(3,3)))
attempt(() -> opticalflow(ones(3,3), ones(3,3), 0))
attempt(() -> opticalflow(ones(3,3), ones(3,3), 7, 0))
attempt(() -> activecontour(ones(3,3), ones(3,4)))
attempt(() -> activecontour(zeros(0,3)))
attempt(() -> activecontour(ones(3,3), null, -1))
attempt(() -> activecontour(ones(3,3), null, 1, 0.5))
attempt(() -> activecontour(ones(3,3), null, 1, 1, -1))
attempt(() -> activecontour(ones(3,3), null, 1, 1, 1, nan))
