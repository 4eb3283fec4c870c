% Functions that call themselves are inlined into themselves: arguments that are only passed on, calls of each other,
% and depths near the limit of frames, where the interpreter continues.
% options: --loops always
function moves = transfer(n, from, to, other)
    moves = 0
    if n > 0
        moves = transfer(n-1, from, other, to) + 1 + transfer(n-1, other, to, from)
    end
end
function y = takeuchi(a, b, c)
    if b >= a
        y = c
    else
        y = takeuchi(takeuchi(a-1, b, c), takeuchi(b-1, c, a), takeuchi(c-1, a, b))
    end
end
function y = is_even(n)
    y = n == 0 ? true : is_odd(n-1)
end
function y = is_odd(n)
    y = n == 0 ? false : is_even(n-1)
end
function y = double(n)
    y = 2*depth(n)
end
function y = depth(n)
    y = n == 0 ? 0 : double(n-1)/2 + 1
end
function y = loops(n)
    y = 1
    for k = 0..4
        if k < n
            y += loops(n-1-k)
        end
    end
end
function y = early(n)
    if n < 2
        y = n
        return
    end
    y = early(n-1) + early(n-2)
end
function y = chosen(n)
    y = n < 2 ? n : chosen(n-1) + chosen(n-2)
end
function y = typed(n : int)
    y = n
    if n >= 2
        y = typed(n-1) + typed(n-2)
    end
end
function [y, calls] = counted(n)
    y = n
    calls = 1
    if n >= 2
        [a, m] = counted(n-1)
        [b, k] = counted(n-2)
        y = a + b
        calls += m + k
    end
end
for n = 0..9
    [y, calls] = counted(n)
    print early(n), " ", chosen(n), " ", typed(n), " ", y, " ", calls
end
for n = 0..9
    print transfer(n, 1, 3, 2), " ", takeuchi(n, floor(2*n/3), floor(n/3)), " ", is_even(n), " ", depth(n), " ", loops(n)
end
function y = down(n)
    y = n == 0 ? 0 : down(n-1) + 1
end
for n = [1000, 5000, 9000]
    print down(n), " ", is_even(n), " ", double(n)
end
function message = deep(f, n)
    message = "no error"
    try
        f(n)
    catch e
        message = e
    end
end
print deep(down, 1e7)
print deep(is_odd, 1e7)
print deep(depth, 1e7)
print down(100)
