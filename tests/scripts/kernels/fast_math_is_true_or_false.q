% exit: 1
% fast_math takes true or false
function [] = __kernel__ k(x : vec, pos : int)
    {!kernel fast_math=7}
    x[pos] = 1
end
x = zeros(4)
parallel_do(4, x, k)
