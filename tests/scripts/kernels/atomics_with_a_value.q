% Atomic functions give the element before the update. Each value must be drawn once, whatever the order of positions.
function [] = __kernel__ compact(x : vec, y : vec, n : vec[int], pos : int)
    if x[pos] > 0.5
        y[atomic_add(n[0], 1)] = x[pos]
    end
end

function [] = __kernel__ family(a : vec[int], f : vec, old : mat, pos : int)
    old[pos,0] = atomic_add(a[0], 2)
    old[pos,1] = atomic_sub(a[1], 3)
    old[pos,2] = atomic_min(a[2], 100 - pos)
    old[pos,3] = atomic_max(a[3], pos)
    old[pos,4] = atomic_and(a[4], not(shl(1, mod(pos, 8))))
    old[pos,5] = atomic_or(a[5], shl(1, mod(pos, 8)))
    old[pos,6] = atomic_xor(a[6], 1)
    old[pos,7] = atomic_xchg(a[7], pos + 1)
    old[pos,8] = atomic_add(f[0], 0.5)
    old[pos,9] = atomic_min(f[1], 50 - pos)
    old[pos,10] = atomic_max(f[2], pos)
    old[pos,11] = atomic_xchg(f[3], pos + 1)
    old[pos,12] = atomic_sub(f[4], 0.25)
end

% The position whose compare-and-swap succeeds adds what it has read: a product, for which there is no function.
function [] = __kernel__ multiply(a : vec[int], pos : int)
    old = a[0]
    seen = atomic_cas(a[0], old, old*2)
    while seen != old
        old = seen
        seen = atomic_cas(a[0], old, old*2)
    end
end

function [] = __kernel__ shared_numbers(out : vec[int], first : vec[int], pos : int, blkpos : int, blkidx : int)
    n = shared_zeros(16)
    lock : vec[int] = shared_zeros(16)
    syncthreads
    out[pos] = atomic_add(n[0], 1)
    if atomic_cas(lock[0], 0, 1) == 0
        first[blkidx] += 1
    end
end

% A value that is not used is an ordinary update.
function [] = __kernel__ counts(h : vec[int], pos : int)
    atomic_add(h[mod(pos, 4)], 1)
end

% Outside of the array nothing is updated, and the value is 0.
function [] = __kernel__ outside(a : vec[int], old : vec[int], pos : int)
    old[pos] = atomic_add(a[pos - 2], 1)
end

function [] = __kernel__ wide(a : vec[int64], b : vec[float64], old : mat, pos : int)
    old[pos,0] = atomic_add(a[0], 4000000000)
    old[pos,1] = atomic_cas(a[1], 0, 7)
    old[pos,2] = atomic_add(b[0], 1)
    old[pos,3] = atomic_xchg(b[1], pos + 1)
    old[pos,4] = atomic_max(b[2], pos)
    old[pos,5] = atomic_max(a[2], pos)
end

function ok = draws(v, step)      % v in some order is 0, step, 2*step ...
    s = sort(reshape(v, [1,numel(v)]))
    ok = all(s == (0..numel(v)-1)*step)
end

N = 1000
x = mod(7*(0..N-1), 11)/10
y = zeros(N)
n = vec[int](1)
parallel_do(N, x, y, n, compact)
print n[0] == sum(x > 0.5), " ", all(sort(y[0..n[0]-1]) == sort(x[x > 0.5]))

M = 64
a = vec[int](8)
a[2] = 1000
a[4] = 255
f = zeros(5)
f[1] = 1000
old = zeros(M, 13)
parallel_do(M, a, f, old, family)
print a[0..6], f[[0,1,2,4]]
print draws(old[:,0], 2), " ", draws(-old[:,1], 3), " ", draws(old[:,8], 0.5), " ", draws(-old[:,12], 0.25)
print max(old[:,2]), " ", max(old[:,3]) < M, " ", max(old[:,4]), " ", min(old[:,5]), " ", sum(old[:,6])
print draws(vertcat(old[:,7], [[a[7]]]), 1), " ", draws(vertcat(old[:,11], [[f[3]]]), 1)
print max(old[:,9]), " ", min(old[:,10])

b = vec[int](1)
b[0] = 1
parallel_do(20, b, multiply)
print b

o = vec[int](M)
first = vec[int](4)
parallel_do([[M],[16]], o, first, shared_numbers)
print all(sort(o) == floor((0..M-1)/4)), first

h = vec[int](4)
parallel_do(N, h, counts)
print h

p = vec[int](3)
q = vec[int](6)
q[:] = 9
parallel_do(6, p, q, outside)
print p, q

serial_do(6, p, q, outside)
print p, q

w = vec[int64](3)
d = vec[float64](3)
old = zeros(M, 6)
parallel_do(M, w, d, old, wide)
print w, " ", sum(old[:,1] == 0), " ", draws(old[:,2], 1), " ", d[[0,2]]
print draws(vertcat(old[:,3], [[d[1]]]), 1), " ", max(old[:,0]) > 2.5e11

% 2: positions one after another
a[:] = 0
a[4] = 255
f[:] = 0
old = zeros(3, 13)
serial_do(3, a, f, old, family)
print old
