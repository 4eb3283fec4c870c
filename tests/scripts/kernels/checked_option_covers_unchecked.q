% exit: 1
% options: --checked
function [] = __kernel__ k(x : mat'unchecked, y : vec, pos : int)
    y[pos] = x[1, pos-1]
end
parallel_do(4, ones(2,4), zeros(4), k)
