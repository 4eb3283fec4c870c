% An empty array has known extents like any other: for overloads, declared sizes, slices and values as a whole.
function y = __device__ which(a : vec3)
    y = 3
end
function y = __device__ which(a : vec)
    y = 1
end
function y = __device__ which(a : mat2x2)
    y = 22
end
function y = __device__ which(a : mat)
    y = 2
end
function [] = __kernel__ choose(x, y : vec, pos : int)
    y[pos] = which(x)
end
for x = {zeros(0), [1,2], [1,2,3], zeros(0,3), zeros(2,0), ones(2,2)}
    y = zeros(1)
    parallel_do(1, x, y, choose)
    print size(x), ": ", y[0]
end

function y = __device__ first(a : vec3)
    y = a[0]
end
function [] = __kernel__ fixed(x : vec, y : vec, pos : int)
    y[pos] = first(x)
end
function [] = __kernel__ sliced(x : vec, y : vec, pos : int)
    y[0] = numel(x[:]) + 10
    y[1] = sum(x[:]) + 20
    z = 2*x
    y[2] = numel(z) + 30
    y[3] = sum(x) + 40
    x[:] = 7
end
function [] = __kernel__ outside(a, x : vec'safe, z : vec'checked, y : vec, pos : int)
    y[0] = which(a) + which(x) + x[0] + numel(x)
    y[1] = 3
    y[1] = z[pos]
end
function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
y = zeros(4)
attempt(() -> parallel_do(1, zeros(0), y, fixed))
attempt(() -> parallel_do(1, zeros(0), y, sliced))
print y
attempt(() -> parallel_do(1, zeros(0), zeros(0), [9], y, outside))
attempt(() -> parallel_do(1, zeros(0), zeros(0), zeros(0), y, outside))
print y
