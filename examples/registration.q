% Finds by how much one picture is shifted and turned against another: gradient descent on the mean squared difference.
% interp2 reads the moving picture between its elements, and its derivative says which way to go.
%
%   qrun examples/registration.q

import "imfilter.q"

function img = smooth_gray(path)
    img = float64(mean(imread(path), 2))/255
    img = imfilter(img, ones(9,9)/81, [4,4], "mirror")
    img = img[40..167, 60..187]
end

% p: angle in units of 0.1, shift in units of 5 elements, so that one step suits all three.
function [x, y] = placed(p, xs, ys, middle)
    c = cos(0.1*p[0])
    s = sin(0.1*p[0])
    x = c*(xs-middle) - s*(ys-middle) + middle + 5*p[1]
    y = s*(xs-middle) + c*(ys-middle) + middle + 5*p[2]
end

function e = mismatch(p, moving, fixed, xs, ys)
    [x, y] = placed(p, xs, ys, 63.5)
    e = mean((interp2(moving, x, y, "linear", "clamp") - fixed).^2)
end

moving = smooth_gray("examples/images/astronaut.png")
[xs, ys] = meshgrid(float64(0..127), float64(0..127))
truth = float64([0.7, 0.62, -0.48])
[x, y] = placed(truth, xs, ys, 63.5)
fixed = interp2(moving, x, y, "linear", "clamp")

p = float64([0,0,0])
speed = 0*p
before = mismatch(p, moving, fixed, xs, ys)
for turn = 1..150
    speed = 0.9*speed - 0.7*grad(q -> mismatch(q, moving, fixed, xs, ys), p)
    p += speed
end
after = mismatch(p, moving, fixed, xs, ys)
printf("turned by %.3f, shifted by %.2f and %.2f (in truth %.3f, %.2f, %.2f)", 0.1*p[0], 5*p[1], 5*p[2],
       0.1*truth[0], 5*truth[1], 5*truth[2])
assert(after < 0.02*before, "the pictures do not meet: ", before, " became ", after)
