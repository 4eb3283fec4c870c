% exit: 1
% Several launches are in flight when one has failed; the value of a later read is not printed.
function [] = __kernel__ double(x : vec, y : vec, pos : int)
    assert(x[pos] > 0, "x must be positive")
    y[pos] = 2*x[pos]
end
function [] = __kernel__ add(x : vec, y : vec, pos : int)
    y[pos] += x[pos]
end
function [] = launch(x, y)
    parallel_do(numel(x), x, y, double)
end
y = zeros(1,4)
z = zeros(1,4)
for k = 1..300
    launch([1,2,3,4], y)
    parallel_do(4, y, z, add)
end
print z
launch([1,2,0,4], y)
launch([1,-2,3,4], y)
parallel_do(4, y, z, add)
print z
