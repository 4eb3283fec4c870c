% print and printf in kernels: lines come after the launch, in the order of positions, and those of one position in the order
% of its statements.
function [] = __kernel__ shows(x : vec, pos : int)
    if x[pos] > 2
        print "x[", pos, "] is ", x[pos]
        printf("%d: %5.2f %s", pos, x[pos]/3, "of a format")
    end
    x[pos] *= 2
end
x = [1,2,3,4]
parallel_do(4, x, shows)
print x

function y = __device__ half(x)
    print "half of ", x
    y = x/2
end
function [] = __kernel__ of_types(a : mat[int], b : vec[int64], c : vec[uint64], z : cvec, text : string, pos : ivec2)
    print pos, " ", a[pos], " ", b[pos[1]], " ", c[pos[1]], " ", z[pos[1]], " ", text
    print pos[0] == pos[1], " ", half(a[pos]), " ", [a[pos],0.5], " ", [[1,2],[3,4]]*pos[1]
    local = zeros(3)
    for k = 0..2
        local[k] = k*pos[1]
        if k == pos[1]
            print "local ", local, z[0..1]
        end
    end
end
parallel_do([2,2], [[1,-2],[3,4]], int64([-5000000000,7]), uint64([9223372036854775807,12]), complex([1,2],[0.5,-1]), "text", of_types)

% positions run one after another
function [] = __kernel__ in_order(x : vec, pos : int)
    print pos, ": ", x[0]
    x[0] += 1
end
serial_do(3, [5,0], in_order)

% positions of several dimensions, and blocks
function [] = __kernel__ in_blocks(pos : ivec3, blkpos : ivec3)
    if mod(pos[0] + pos[1] + pos[2], 4) == 0
        print pos, blkpos
    end
end
parallel_do([[4,2,3],[2,1,1]], in_blocks)

function [] = __kernel__ last_one(x : vec, pos : int)
    if pos >= 30000
        print "late ", x[pos]
    end
end
parallel_do(30002, zeros(30002), last_one)

% lines that a failed launch has printed come before its error
function [] = __kernel__ fails(x : vec, pos : int)
    if pos == 1
        print "before"
        assert(x[pos] < 2, "too large")
    end
end
function [] = show(f)
    try
        f()
    catch e
        print e
    end
end
show(() -> parallel_do(3, [1,2.5,0], fails))

function [] = __kernel__ wrong_format(x : vec, pos : int)
    printf("%d %d", x[pos])
end
show(() -> parallel_do(1, [1], wrong_format))
function [] = __kernel__ of_unknown_size(f, pos : int)
    print f
end
show(() -> parallel_do(1, x -> x, of_unknown_size))

% a kernel that prints has a derivative, which prints nothing
function [] = __kernel__ squares(x : vec, y : vec, pos : int)
    y[pos] = x[pos]^2
    print "y ", y[pos]
end
function s = total(x)
    y = zeros(size(x))
    parallel_do(numel(x), x, y, squares)
    s = sum(y)
end
print grad(total, [1,2,3])
[y, dy] = jvp(total, [1,2,3], [1,0,0])
print y, " ", dy
