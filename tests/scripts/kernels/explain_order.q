% --explain says that launches run on one thread of the processor, and why.
% options: --explain
% exit: 3
% devices: cpu
function [] = __kernel__ numbers(x : vec, n : vec[int], pos : int)
    x[pos] = atomic_add(n[0], 1)
end
function [] = __kernel__ says(x : vec, pos : int)
    print x[pos]
end
function [] = __kernel__ adds(n : vec[int], pos : int)
    atomic_add(n[0], 1)
end
x = zeros(2)
n = vec[int](1)
parallel_do(2, x, n, numbers)
parallel_do(2, x, says)
parallel_do(2, n, adds)
serial_do(2, x, n, numbers)
exit(3)
