% exit: 1
% options: --checked
function [] = __kernel__ k(x : vec, y : vec, pos : int)
    y[pos] = x[pos+1]
end
parallel_do(4, [1,2,3,4], zeros(4), k)
