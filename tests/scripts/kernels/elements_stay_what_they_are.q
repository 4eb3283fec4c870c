% What is computed of integers and truth values is made of them, in kernels as on the host, and so are slices: an element
% that is stored into stays of its type.  On several paths of several types it takes what all of them hold.
function v = __device__ stored(f, x, b)
    a = vec[int](2)
    a[0] = 200
    v = f(a, uint8(a), x, b)
    v[1] = x[2]
end
function [] = __kernel__ store(f, x : vec, b, y : vec, pos : int)
    y[0..1] = stored(f, x, b)
end
function [] = __kernel__ paths(x : vec, y : vec, c : int, pos : int)
    v = vec[int](2)
    if c > 0
        v = [0.5, 1.5]
    end
    v[1] = x[pos]
    y[0..1] = v
end
function [] = __kernel__ choice(x : vec, y : vec, c : int, pos : int)
    v = c > 0 ? vec[uint8](2) : vec[int](2)
    v[1] = x[pos]
    y[0..1] = v
end
x = [1.5, -2.5, 300.75]
b = uint8([7, 8, 9])
function [] = keep(v, y)
    y[0] = v[0]
    y[1] = v[1]
end
function text = told(f)
    y = zeros(2)
    try
        f(y)
        text = sprintf("%g %g", y[0], y[1])
    catch e
        text = "error"
    end
end
ways = {(a, u, x, b) -> b[0..1], (a, u, x, b) -> b[[1,0]], (a, u, x, b) -> a + a, (a, u, x, b) -> u + u,
        (a, u, x, b) -> max(u, u), (a, u, x, b) -> a > 3, (a, u, x, b) -> int(x[0..1]), (a, u, x, b) -> -u,
        (a, u, x, b) -> +u, (a, u, x, b) -> shl(a, 1), (a, u, x, b) -> where(a > 3, u, u), (a, u, x, b) -> [u],
        (a, u, x, b) -> [a[0], a[1]], (a, u, x, b) -> a + 0.5, (a, u, x, b) -> x[0..1], (a, u, x, b) -> or(a > 3, a > 5),
        (a, u, x, b) -> -(a > 3), (a, u, x, b) -> mod(u, u + u + 1), (a, u, x, b) -> a./a}
for k = 0..numel(ways)-1
    f = ways[k]
    here = told(y -> parallel_do(1, f, x, b, y, store))
    host = told(y -> keep(stored(f, x, b), y))
    print k, here == host ? ": as on the host, " : ": not as on the host, ", here
end
y = zeros(2)
for v = [3, 7.75]
    for c = 0..1
        try
            parallel_do(1, [v], y, c, paths)
            print y
        catch e
            print e
        end
    end
    try
        parallel_do(1, [100*v], y, 1, choice)
        print y
    catch e
        print e
    end
end
