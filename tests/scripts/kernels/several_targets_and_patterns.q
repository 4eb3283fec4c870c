% Assignments to several targets and patterns of several values mean the same in a kernel, in a compiled loop and
% in the interpreter.
function [a, b] = two(x)
    a = x
    b = x + 1
end
function r = kind(k)
    match k with
    | (1, 2) -> r = 12
    | 3 -> r = 3
    | (4, 5, 6) -> r = 456
    | _ -> r = -1
    end
end
function r = pair(p)
    match p with
    | (1, 2) -> r = 1
    | (1, 2, 3) -> r = 2
    | (2, 2) -> r = 3
    | _ -> r = 4
    end
end
function [] = __kernel__ compute(y : mat, pos : int)
    [_, b] = two(pos)
    [i, x] = [pos, pos/2]
    [i, b] = [b, i]
    [u, v] = [7, 8, 9]
    y[pos, 0..6] = [b, i, x, kind(pos), pair([pos, 2]), u, v]
end
function y = by_loop(n)
    y = zeros(n, 7)
    for k = 0..n-1
        [_, b] = two(k)
        [i, x] = [k, k/2]
        [i, b] = [b, i]
        [u, v] = [7, 8, 9]
        y[k, 0] = b
        y[k, 1] = i
        y[k, 2] = x
        y[k, 3] = kind(k)
        y[k, 4] = pair([k, 2])
        y[k, 5] = u
        y[k, 6] = v
    end
end
y = zeros(8, 7)
parallel_do(8, y, compute)
print y
print max(abs(y - by_loop(8)))
