% options: --memory-limit 1M
% devices: opencl

% Two arrays of 1 MB are needed at once; what the arrays hold survives the error.
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
