% tolerance: 1e-4
% The image programs of tests/bench at sizes that no vector width or block size divides: equal sums on every device.
import "../../bench/kernels/box.q"
import "../../bench/kernels/gauss.q"
import "../../bench/kernels/jacobi.q"
import "../../bench/kernels/nlmeans.q"
import "../../bench/kernels/bilateral.q"
import "../../bench/kernels/life.q"

% This result depends on the positions of the values.
function s = weighed(y)
    s = sum(reshape(y, [numel(y)]).*(1 + pattern(numel(y), 53, 1019)))
end

function [] = filters(m, n)
    x = reshape(pattern(m*n, 37, 1021), [m,n])
    y = zeros(m,n)
    w = exp(-((-6..6)/2).^2/2)
    world = mat[bool](m,n)
    world[:,:] = x < 0.3
    printf("%dx%d %.4f %.4f %.4f %.4f %.4f %.4f", m, n, weighed(box_filter(x, y)),
           weighed(gauss_filter(x, zeros(m,n), y, w/sum(w))), weighed(solve(x)), weighed(nlmeans_filter(x, y)),
           weighed(bilateral_filter(x, y)), weighed(generations(world)))
end

function [] = main()
    filters(1, 1)
    filters(2, 3)
    filters(7, 31)
    filters(33, 1)
    filters(1, 1000)
    filters(33, 70)
end
