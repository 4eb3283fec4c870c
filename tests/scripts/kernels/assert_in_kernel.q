% exit: 1
function [] = __kernel__ k(x : vec, pos : int)
    assert(x[pos] > 0, "x must be positive")
end
parallel_do(3, [1,0,2], k)
