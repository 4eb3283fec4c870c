% 256 bins; positions that count in the same bin meet.
import "measure.q"

function [] = __kernel__ count(x : vec[uint8], h : vec[int], pos : int)
    h[x[pos]] += 1
end

function h = histogram(x)
    h = vec[int](256)
    parallel_do(numel(x), x, h, count)
end

function [] = main()
    x = vec[uint8](16777216)
    x[:] = 256*pattern(numel(x), 37, 1021)
    measure(() -> histogram(x))
end
