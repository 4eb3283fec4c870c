% halo of a kernel with several definitions: an argument that is null or missing fits every type.
function [] = __kernel__ near(x : vec'clamped, y : vec, pos : int)
    y[pos] = x[pos-1]
end
function [] = __kernel__ near(x : mat'clamped, y : mat, pos : ivec2)
    y[pos] = x[pos-[2,3]]
end
function [] = __kernel__ far(x : mat'clamped, y : mat, pos : ivec2)
    y[pos] = x[pos-[2,3]]
end
function [] = __kernel__ far(x : vec'clamped, y : vec, r : int, pos : int)
    y[pos] = x[pos-r]
end
function [] = why(f)
    try
        print f()
    catch e
        print e
    end
end
print halo(near), halo(near, null), halo(near, null, null)
print halo(near, zeros(4)), halo(near, zeros(4,4)), halo(near, null, zeros(4)), halo(near, zeros(4), null)
print halo(far, null, null, 4), halo(far, zeros(4,4)), halo(far, zeros(4), zeros(4), 5)
why(() -> halo(far))
why(() -> halo(near, "text"))
why(() -> halo(near, null, null, null))

% Launches remember the chosen definition separately from calls of the same name.
function y = mixed(x : vec)
    y = "called"
end
function [] = __kernel__ mixed(x : vec, pos : int)
    x[pos] = 1
end
function [] = __kernel__ mixed(x : mat, pos : ivec2)
    x[pos] = 2
end
x = zeros(2)
z = zeros(2,2)
for k = 0..2
    print mixed(x)
    parallel_do(size(x), x, mixed)
    parallel_do(size(z), z, mixed)
    print x, " ", z
    x[0] = 0
end
