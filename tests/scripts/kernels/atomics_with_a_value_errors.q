% Errors of atomic functions, and the warning about an element that is read back after an update.
function [] = __kernel__ cas_of_floats(x : vec, pos : int)
    x[pos] = atomic_cas(x[0], 0, 1)
end
function [] = __kernel__ bytes(x : vec[uint8], y : vec, pos : int)
    y[pos] = atomic_add(x[0], 1)
end
function [] = __kernel__ of_a_name(x : vec, pos : int)
    y = atomic_add(x, 1)
end
function [] = __kernel__ private(x : vec, pos : int)
    t = [1,2,3]
    x[pos] = atomic_add(t[0], 1)
end
function [] = __kernel__ part(x : vec, pos : int)
    x[pos] = atomic_add(x[0..1], 1)
end
function [] = __kernel__ two(x : vec, pos : int)
    x[pos] = atomic_cas(x[0], 1)
end
function [] = __kernel__ fraction(n : vec[int], pos : int)
    i = atomic_add(n[0], 0.5)
    n[1] = i
end
function [] = __kernel__ read_back(n : vec[int], out : vec, pos : int)
    n[0] += 1
    out[pos] = n[0]
end
function [] = __kernel__ fine(n : vec[int], out : vec, pos : int)
    n[pos] += 1
    out[pos] = n[pos]
end
function [] = __kernel__ sum_up(x : vec, y : vec, pos : int)
    y[pos] = x[pos]*atomic_add(y[0], x[pos])
end
function y = through(x)
    y = zeros(3)
    parallel_do(3, x, y, sum_up)
end
function [] = fails(f)
    try
        f()
    catch e
        print e.message
    end
end
x = zeros(3)
n = vec[int](3)
fails(() -> parallel_do(3, x, cas_of_floats))
fails(() -> parallel_do(3, vec[uint8](3), x, bytes))
fails(() -> parallel_do(3, x, of_a_name))
fails(() -> parallel_do(3, x, private))
fails(() -> parallel_do(3, x, part))
fails(() -> parallel_do(3, x, two))
fails(() -> parallel_do(3, n, fraction))
fails(() -> atomic_add(n[0], 1))
fails(() -> grad(v -> sum(through(v)), x))
parallel_do(3, n, x, fine)
print n
parallel_do(1, n, x, read_back)
serial_do(3, n, x, read_back)
print n
