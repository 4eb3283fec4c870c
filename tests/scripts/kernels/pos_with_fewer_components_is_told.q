% options: --explain
% devices: ref
function [] = __kernel__ rows(n : vec, pos : int)
    n[pos] += 1
end
n = zeros(4)
for i = 1..3
    parallel_do([4,3,2], n, rows)
end
print n
