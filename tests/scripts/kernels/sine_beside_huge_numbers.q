% Sines of ordinary numbers do not change when huge numbers are in the same row.
function [] = __kernel__ sines(y : vec, x : vec, pos : int)
    y[pos] = sin(x[pos])
end

function [] = __kernel__ cosines(y : vec, x : vec, pos : int)
    y[pos] = cos(x[pos])
end

% Counts how often the kernel gives another number for 1 than y, with one element `here` among `others`.
function bad = wrong(n, here, others, y, kernel)
    bad = 0
    for at = 0..n-1
        x = others*ones(n)
        x[at] = here
        r = zeros(n)
        parallel_do(n, r, x, kernel)
        bad += sum((x == 1).*(abs(r - y) > 1e-5))
    end
end

for n = [4,8,15,16,17,24,31,33,48,65]
    print n, ": ", wrong(n, 1e9, 1, sin(1), sines), " ", wrong(n, 1, 1e9, sin(1), sines), " ",
        wrong(n, inf, 1, cos(1), cosines)
end
