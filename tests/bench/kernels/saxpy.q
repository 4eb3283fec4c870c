% y = a*x + y, in place.
import "measure.q"

function [] = __kernel__ saxpy(a : scalar, x : vec, y : vec, pos : int)
    y[pos] = a*x[pos] + y[pos]
end

function y = add_scaled(x, y)
    parallel_do(numel(x), 0.5, x, y, saxpy)
end

function [] = main()
    n = 16777216
    x = pattern(n, 37, 1021)
    y = pattern(n, 53, 1019)
    measure(() -> add_scaled(x, y))
end
