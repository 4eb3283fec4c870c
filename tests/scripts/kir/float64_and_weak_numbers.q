% options: --dump kir
% devices: ref
% Literals and host numbers take the precision of the other operand.
function [] = __kernel__ axpy(x, y, a, pos : int)
    y[pos] = 2*a*x[pos] + 0.1
end
parallel_do(2, float64([1,2]), float64([1,2]), 0.3, axpy)
parallel_do(2, [1,2], [1,2], 0.3, axpy)
