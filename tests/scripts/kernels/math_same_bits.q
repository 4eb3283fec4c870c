% A function gives the same bits at every position of a row, even with huge arguments next to small ones.
function [] = __kernel__ all(x : vec, y : mat, pos : int)
    y[0,pos] = sin(x[pos])
    y[1,pos] = cos(x[pos])
    y[2,pos] = exp(x[pos])
    y[3,pos] = exp2(x[pos])
    y[4,pos] = asin(1/(1 + abs(x[pos])))
    y[5,pos] = acos(1/(1 + abs(x[pos])))
end

function y = values(x)
    y = zeros(6, numel(x))
    parallel_do(numel(x), x, y, all)
end

n = 300
x = linspace(-200, 200, n)
x[7] = 1e6
x[20] = -3e38
x[n-1] = 2e9
together = values(x)
alone = zeros(6,n)
for k = 0..n-1
    alone[:,k] = values(x[k..k])
end
print isequal(together, alone)
print abs(together[0,7] - sin(1e6)) < 1e-7, abs(together[1,20] - cos(x[20])) < 1e-7
