% Equal calls of functions that call themselves and write nothing run once.  Without that, hanoi(60) would not end.
% options: --loops always
function moves = transfer(n, from, to, other)
    moves = 0
    if n > 0
        moves = transfer(n-1, from, other, to) + 1 + transfer(n-1, other, to, from)
    end
end
function y = first(n, x)
    y = n == 0 ? x[0] : first(n-1, x) + second(n-1, x) + first(n-1, x)
end
function y = second(n, x)
    y = n == 0 ? x[1] : first(n-1, x) - second(n-1, x)/2 + second(n-1, x)
end
function y = branches(n, a)
    y = 1
    if n > 0
        if mod(n, 2) == 0
            y = branches(n-1, a) + a
        else
            y = branches(n-1, a) - a
        end
        y += branches(n-1, a)
        for k = 1..2
            y += branches(n-1, a)/4
        end
    end
end
function y = counts(n, calls)
    calls[0] += 1
    y = 1
    if n > 0
        y = counts(n-1, calls) + counts(n-1, calls)
    end
end
function y = deep(n, unused)
    y = 1 + deep(n+1, unused) - deep(n+1, 2*unused)
end
print transfer(60, 1, 3, 2), " ", transfer(4, 1, 3, 2)
print first(5, [1,2]), " ", second(5, [1,2]), " ", first(12, [1,2])
print branches(5, 3), " ", branches(6, 0.5)
calls = zeros(1)
print counts(6, calls), " ", calls[0]
s = 0
for k = 1..60
    s += transfer(k, k, 2, 3)
end
print s
try
    print deep(0, 1)
catch e
    print e
end
