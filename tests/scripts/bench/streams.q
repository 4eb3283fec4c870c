% tolerance: 1e-4
% The one-dimensional programs of tests/bench at sizes that no vector width divides: equal sums on every device.
import "../../bench/kernels/saxpy.q"
import "../../bench/kernels/histogram.q"
import "../../bench/kernels/nbody.q"
import "../../bench/kernels/blackscholes.q"
import "../../bench/kernels/kmeans.q"
import "../../bench/kernels/sortkey.q"

% This result depends on the positions of the values.
function s = weighed(y)
    s = sum(reshape(y, [numel(y)]).*(1 + pattern(numel(y), 53, 1019)))
end

function [] = streams(n)
    x = pattern(n, 37, 1021)
    y = pattern(n, 71, 1013)
    bytes = vec[uint8](n)
    bytes[:] = 256*x
    p = zeros(3,n)
    for k = 0..2
        p[k,:] = pattern(n, 37 + k, 1021)
    end
    printf("%d %.4f %.4f %.4f %.4f %.4f", n, weighed(x + 3*y), weighed(exp(-x.*x).*sin(x)), sum(x), sum(x.*y),
           weighed(cumsum(x - 0.5)))
    printf("  %.4f %.4f %.4f %.4f %.4f", weighed(histogram(bytes)), weighed(abs(attract(p, zeros(3,n)))),
           weighed(prices(10 + 20*x, 10 + 20*y, 0.25 + 2*y, zeros(n))), weighed(bykey(pattern(n, 1103, 1000003), x)),
           weighed(add_scaled(x, y)))
end

function [] = main()
    for n = [1, 2, 3, 7, 31, 33, 1000, 4099]
        streams(n)
    end
    c = zeros(2,16)
    c[0,:] = pattern(16, 5, 17)
    c[1,:] = pattern(16, 11, 19)
    printf("kmeans %.4f", weighed(round(pattern(70001, 37, 1021), pattern(70001, 53, 1019), c)))
end
