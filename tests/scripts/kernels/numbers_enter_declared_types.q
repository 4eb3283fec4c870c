% A declared integer is an integer in kernels as on the host: parameters reject numbers that conversion would change,
% variables, elements and fields convert.  tests/declared.py has the whole table.
type corner : mutable class
    at : ivec2
end
function y = __device__ twice(n : int)
    y = 2*n
end
function y = __device__ half_of(n : int)
    n = n/2
    y = n
end
function y = __device__ first(v : ivec2)
    v[0] = 2.7
    y = v[0]
end
function y : ivec2 = __device__ both(x)
    y = [0,0]
    y[0] = x
end
function [] = __kernel__ call(x : vec, y : vec, pos : int)
    y[pos] = twice(x[pos])
end
function [] = __kernel__ literal(y : vec, pos : int)
    y[pos] = twice(3.7)
end
function [] = __kernel__ initial(y : vec, n : int = 2.5, pos : int)
    y[pos] = n
end
function [] = __kernel__ inner(y : vec, x : scalar, pos : int)
    parallel_do(1, y, 300*x, narrow)
end
function [] = __kernel__ narrow(y : vec, n : uint8, pos : int)
    y[pos] = n
end
function [] = __kernel__ store(x : vec, y : vec, n : int, pos : int)
    w = vec[int](2)
    w[0] = x[0]
    for i = 0..1
        w[i] += 0.75
    end
    bytes = uint8([1,2])
    bytes[1] = 300.7
    c = corner(at := [1,2])
    c.at[1] = x[0]
    v = both(x[0])
    n = 1.5*n
    y[0..7] = [w[0],w[1],bytes[1],c.at[1],v[0],half_of(5),first([1,2]),n]
end
function [] = __kernel__ truth(y : vec, x : vec, pos : int)
    b = vec[bool](2)
    b[1] = x[0]
    y[0] = b[1]
end
y = zeros(8)
function [] = tell(f)
    try
        f()
        print y
    catch e
        print e
    end
end
tell(() -> parallel_do(2, [3,4], y, call))
tell(() -> parallel_do(2, [3,4.5], y, call))
tell(() -> parallel_do(2, int([3,4]), y, call))
tell(() -> parallel_do(2, [0/0,1], y, call))
tell(() -> parallel_do(1, y, literal))
tell(() -> parallel_do(1, y, initial))
tell(() -> parallel_do(1, y, 4, initial))
tell(() -> parallel_do(1, y, 1, inner))
tell(() -> parallel_do(1, y, 0.5, inner))
tell(() -> parallel_do(1, [2.7], y, 3, store))
tell(() -> parallel_do(1, y, [1], truth))
tell(() -> parallel_do(1, y, [2], truth))
