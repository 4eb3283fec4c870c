% A work queue: positions take tasks until there are none, and add new ones, as in an adaptive quadrature. A task is an interval;
% where a finer rule differs, its halves go to the queue of the next launch.
function y = __device__ f(x : scalar)
    y = 1/(0.01 + (x - 0.3)^2)
end
function [] = __kernel__ work(tasks : mat, n : vec[int], next : vec[int], more : mat, total : vec, pos : int)
    i = atomic_add(next[0], 1)
    while i < n[0]
        a = tasks[i,0]
        b = tasks[i,1]
        m = (a + b)/2
        h = b - a
        coarse = h*(f(a) + 4*f(m) + f(b))/6
        fine = h*(f(a) + 4*f((a + m)/2) + 2*f(m) + 4*f((m + b)/2) + f(b))/12
        if abs(fine - coarse) < 0.001
            total[0] += fine
            total[1] += 1
        else
            k = atomic_add(next[1], 2)
            more[k,0..1] = [a, m]
            more[k+1,0..1] = [m, b]
        end
        i = atomic_add(next[0], 1)
    end
end
tasks = zeros(4096, 2)
more = zeros(4096, 2)
tasks[0,:] = [[0, 1]]
n = vec[int](1)
n[0] = 1
total = zeros(2)
rounds = 0
while n[0] > 0
    next = vec[int](2)
    parallel_do(16, tasks, n, next, more, total, work)
    [tasks, more] = [more, tasks]
    n[0] = next[1]
    rounds += 1
end
print abs(total[0] - 10*(atan(7) + atan(3))) < 0.01, " ", total[1] > 10, " ", rounds > 4
