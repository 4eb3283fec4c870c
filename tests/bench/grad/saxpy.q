import "race.q"

function [] = __kernel__ saxpy(x : vec, y : vec, z : vec, a : scalar, pos : int)
    z[pos] = a*x[pos] + y[pos]
end

function s = value(x, y)
    z = uninit(size(x))
    parallel_do(numel(x), x, y, z, 2, saxpy)
    s = sum(z.*z)
end

function [] = main()
    n = 4194304
    x = pattern(n, 37, 1021)
    y = pattern(n, 53, 1019)
    race(() -> value(x, y), () -> grad(x -> value(x, y), x))
end
