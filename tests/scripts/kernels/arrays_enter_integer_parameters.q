% An integer parameter rejects arrays whose elements the conversion would change: on the host, in kernel functions, and
% at a read inside a kernel.  tests/declared.py has the whole table.
function [] = __kernel__ whole(x : vec[int], y : vec, pos : int)
    y[pos] = x[pos]
end
function [] = __kernel__ bytes(x : vec[uint8], y : vec, pos : int)
    y[pos] = x[pos]
end
function [] = __kernel__ few(n : ivec2, y : vec, pos : int)
    y[pos] = n[0] + 10*n[1]
end
function y = __device__ second(v : ivec)
    y = v[1]
end
function y = __device__ at(v : vec[uint8], i : int)
    y = v[i]
end
function [] = __kernel__ small(x : vec, y : vec, pos : int)
    y[pos] = second([x[0], x[1]])
end
function [] = __kernel__ private(x : vec, y : vec, pos : int)
    v = zeros(80)
    for i = 0..79
        v[i] = x[1]
    end
    y[pos] = at(v, pos + 1)
end
function [] = __kernel__ whole_again(x : vec, y : vec, pos : int)
    v : ivec = x
    y[pos] = second(v)
end
function [] = __kernel__ inner(x, y : vec, pos : int)
    y[pos] = second(x)
end
function [] = __kernel__ block(x : vec, y : vec, pos : int, blkpos : int)
    s = shared(4)
    s[blkpos] = x[0]
    syncthreads
    y[pos] = second(s)
end
function [] = __kernel__ count(x : vec[int], h : vec[int], pos : int)
    h[x[pos]] += 1
end
y = zeros(1)
function [] = tell(f)
    y[0] = 0
    try
        f()
        print y
    catch e
        print e
    end
end
tell(() -> parallel_do(1, [3.0, 4], y, whole))
tell(() -> parallel_do(1, [3.5, 4], y, whole))
tell(() -> parallel_do(1, [256, 4], y, bytes))
tell(() -> parallel_do(1, int([256, 4]), y, bytes))
tell(() -> parallel_do(1, [1.0, 2], y, few))
tell(() -> parallel_do(1, [1.5, 2], y, few))
tell(() -> parallel_do(1, [1.0, 2], y, small))
tell(() -> parallel_do(1, [1, 2.5], y, small))
tell(() -> parallel_do(1, [1, 2.5], y, private))
tell(() -> parallel_do(1, [1, 2], y, private))
tell(() -> parallel_do(1, [1, 2.5], y, whole_again))
tell(() -> parallel_do(1, [1, 2.5], y, inner))
tell(() -> parallel_do(1, int([1, 2.5]), y, inner))
tell(() -> parallel_do(1, [1, 2.5], y, block))
h = zeros(3)
parallel_do(4, [0,1,1,2], h, count)
print h
% The host.
function y = ints_of(x : ivec)
    y = x
end
function y = bytes_of(x : mat[uint8])
    y = x
end
function y = either(x : [int|string])
    y = x
end
type ray : class
    v : ivec
end
function [] = told(f)
    try
        r = f()
        print type(r), " ", r
    catch e
        print e
    end
end
for x = {[1.0, 2], [1.5, 2], [0/0, 1], int64([1, 2]), int64([4294967297]), [true, false], [2147483648]}
    told(() -> ints_of(x))
end
for x = {uint8([[1, 2]]), [[255, 0]], [[256, 0]], int([[-1]])}
    told(() -> bytes_of(x))
end
told(() -> either(2.0))
told(() -> either(2.5))
told(() -> ray(v:=[1.5, 2]).v)
told(() -> grad(x -> sum(x.*ints_of(x)), [2, 3]))
