% options: --memory-limit 1M
% devices: opencl

% A launch needs two arrays of 1 MB at once; the contents of the arrays survive the error.
function [] = __kernel__ add(x : vec, y : vec, pos : int)
    y[pos] = x[pos] + 1
end

n = 262144
x = ones(n)
y = zeros(n)
try
    parallel_do(n, x, y, add)
catch e
    print("caught")
end
print(sum(x), " ", sum(y))
