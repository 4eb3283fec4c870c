% options: --memory-limit 1M
% On every device an array beyond the limit raises an error that can be caught, and the program continues.
% Strings do not count.
function [] = __kernel__ fill(x : mat, pos : ivec2)
    x[pos] = 1
end
function [] = attempt(n)
    try
        x = zeros(n, n)
        parallel_do(size(x), x, fill)
        print n, ": ", sum(x) == n*n
    catch e
        print n, " does not fit"
    end
end
attempt(100)
attempt(1000)
for i = 1..20
    attempt(300)
end
s = "0123456789"
for i = 1..18
    s = strcat(s, s)
end
print numel(s)
