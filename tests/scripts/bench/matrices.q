% tolerance: 1e-4
% The matrix programs of tests/bench at odd sizes, and the Mandelbrot set: equal sums on every device.
import "../../bench/kernels/tiles.q"
import "../../bench/kernels/mandelbrot.q"

% This result depends on the positions of the values.
function s = weighed(y)
    s = sum(reshape(y, [numel(y)]).*(1 + pattern(numel(y), 53, 1019)))
end

function [] = products(m, k, n)
    a = reshape(pattern(m*k, 37, 1021), [m,k])
    b = reshape(pattern(k*n, 71, 1013), [k,n])
    c = a*b
    printf("%dx%dx%d %.4f %.4f", m, k, n, weighed(c), weighed(transpose(c)))
    if mod(m, 16) + mod(k, 16) + mod(n, 16) == 0
        assert(max(abs(multiply(a, b, zeros(m,n)) - c)) < 1e-3)
    endif
end

function [] = main()
    for size = [[1,1,1], [2,3,1], [7,31,33], [1,1000,1], [1000,1,3], [16,32,48], [80,16,16]]
        products(size[0], size[1], size[2])
    end
    printf("%.2f", mean(min(draw(zeros(193,301)), 30)))  % beyond 30 turns the last digits decide
end
