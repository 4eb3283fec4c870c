% options: --loops always --explain
% The size of an array that an iteration makes is compiled in only if no counter decides it.
x = zeros(6)
for i = 0..5
    v = zeros(min(i+1, 3))
    v[0] = 2
    x[i] = sum(v) + 10*numel(v)
end
print x
function y = bounded(n)
    y = zeros(6)
    for i = 0..5
        v = ones(min(n, 3))
        y[i] = sum(v) + i
    end
end
print bounded(2), bounded(7)
