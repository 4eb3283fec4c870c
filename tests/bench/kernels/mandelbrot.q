% How many turns until |z| passes 2, at most 200.
import "measure.q"

function [] = __kernel__ escape(y : mat, pos : ivec2)
    a = pos[1]*(3/512) - 2.25
    b = pos[0]*(2.5/384) - 1.25
    u = 0.0
    v = 0.0
    n = 0
    while n < 200 && u*u + v*v < 4
        t = u*u - v*v + a
        v = 2*u*v + b
        u = t
        n += 1
    end
    y[pos] = n
end

function y = draw(y)
    parallel_do(size(y), y, escape)
end

function [] = main()
    y = zeros(384,512)
    measure(() -> draw(y))
end
