function y = __device__ count()
    y = ($target("cpu") ? 1 : 0) + ($target("opencl") ? 1 : 0) + ($target("cuda") ? 1 : 0)
end
function [] = __kernel__ k(y : vec, pos : int)
    if $target("cpu") || $target("opencl") || $target("cuda")
        y[pos] = count()
    else
        y[pos] = fopen("a branch that vanishes is not compiled")
    end
end
function [] = __kernel__ processor(y : vec, pos : int)
    y[pos] = $target("cpu") && $target("gpu") ? 1 : 0
end
function [] = __kernel__ unknown(y : vec, pos : int)
    y[pos] = $target("tpu")
end
y = zeros(3)
parallel_do(3, y, k)
print y
parallel_do(3, y, processor)
print y
try
    parallel_do(3, y, unknown)
catch e
    print e.message
end
