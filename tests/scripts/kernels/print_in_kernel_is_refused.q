% exit: 1
function [] = __kernel__ k(y : vec, pos : int)
    print pos
end
parallel_do(2, zeros(2), k)
