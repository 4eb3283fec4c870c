% Several positions update one integer: the operand must have its type, since nothing is converted in between.
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
% A declared type that differs from the memory is an error: the update computes in the type of the memory.
function [] = __device__ through(x : vec[uint8], pos)
    x[1] += 100
end
function [] = __kernel__ handed(x : vec[int], pos : int)
    through(x, pos)
end
function [] = __kernel__ declared(x : vec[uint8], pos : int)
    x[1] += 100
end
function [] = __kernel__ own(x : vec[uint8], pos : int)
    x[pos] += 100
end
function [] = __kernel__ blocks(x : vec, pos : int)
    s : vec[uint8] = shared(2)
    s[0] += 100
    syncthreads
    x[pos] = s[0]
end
function [] = __kernel__ all_of_it(x : vec, pos : int)
    s = shared(2)
    s += 1
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
tell((x) -> parallel_do(3, x, declared), uint8([7, 81, 9]))
tell((x) -> parallel_do(3, x, declared), [7, 81, 9])
tell((x) -> parallel_do(3, x, declared), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, [1.0], add), [7, 81, 9])
tell((x) -> parallel_do(3, x, [0.5], add), [7, 81, 9])
tell((x) -> parallel_do(3, x, [1.0], add), [7, 81.5, 9])
tell((x) -> parallel_do(3, x, [1.0], add), uint8([7, 254, 9]))
tell((x) -> parallel_do(3, x, [1.0], add), int64([7, 254, 9]))
tell((x) -> parallel_do(3, x, own), int([7, 200, 9]))
tell((x) -> parallel_do(3, x, handed), int([7, 81, 9]))
tell((x) -> parallel_do(3, x, blocks), [7, 81, 9])
tell((x) -> parallel_do(3, x, all_of_it), [7, 81, 9])
