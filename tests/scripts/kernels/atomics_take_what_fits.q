% Several positions that update one integer: what they bring must be of its type, since nothing is converted in between.
function [] = __kernel__ divide(x : vec[int], n : vec, pos : int)
    x[1] /= n[0]
end
function [] = __kernel__ add(x : vec[int], n : vec, pos : int)
    x[1] += n[0]
end
function [] = __kernel__ unsigned(x : vec[uint32], n : int, pos : int)
    x[1] += n
end
function [] = __kernel__ narrow(x : vec[uint8], n : int, pos : int)
    x[1] += n
end
function [] = __kernel__ scale(x : vec[int], pos : int)
    x[1] *= 1.5
end
function [] = __kernel__ most(x : vec[int], n : vec, pos : int)
    x[1] ^^= n[0]
end
function [] = __kernel__ guarded(x : vec[int]'safe, n : vec, pos : int)
    x[7*pos+7] += n[0]
end
function [] = __kernel__ imaginary(x : vec, z : vec[complex64], pos : int)
    x[1] += z[pos]
end
function [] = tell(f, x)
    try
        f(x)
        print x
    catch e
        print e
    end
end
tell((x) -> parallel_do(3, x, [2.0], divide), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [0.0], divide), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [2.5], divide), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [3.0], add), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [-0.5], add), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [1e10], add), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [0/0], add), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, 4, unsigned), uint32([7, 81, 9]))
tell((x) -> parallel_do(3, x, -1, unsigned), uint32([7, 81, 9]))
tell((x) -> parallel_do(3, x, 100, narrow), uint8([7, 81, 9]))
tell((x) -> parallel_do(3, x, scale), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [90.5], most), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [0/0], most), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [0.5], guarded), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, complex([1.0,2,3],[0.0,1,0]), imaginary), [1.0, 2, 3])
