% A failed assertion in a kernel says at which position, and with which values of a comparison.
function [] = show(f)
    try
        f()
    catch e
        print e
    end
end
function [] = __kernel__ compares(x : mat, y : mat, pos : ivec2)
    assert(x[pos] <= 3, "x is too large")
    assert(y[pos] > -1, "100% wrong")
    assert(x[pos] + y[pos] != 6 && x[pos] > -5, "a sum")
end
show(() -> parallel_do([2,2], [[1,2],[3.5,0]], zeros(2,2), compares))
show(() -> parallel_do([2,2], zeros(2,2), [[0,0],[0,-1]], compares))
show(() -> parallel_do([2,2], [[0,0],[2,0]], [[0,0],[4,0]], compares))
function y = __device__ checked_root(x)
    assert(x >= 0)
    y = sqrt(x)
end
function [] = __kernel__ in_function(x : vec, pos : int)
    x[pos] = checked_root(x[pos])
end
show(() -> parallel_do(3, [4,-1,9], in_function))
function [] = __kernel__ of_ints(n : vec[int], pos : int)
    assert(n[pos] == 7, "n")
end
show(() -> parallel_do(3, int([7,-2147483647,7]), of_ints))
