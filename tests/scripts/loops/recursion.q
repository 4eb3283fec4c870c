% Recursive functions become machine code: the same results, errors, lines and limits as interpreted.
function y = fib(n)
    if n < 2
        y = n
    else
        y = fib(n-1) + fib(n-2)
    end
end
function y : int = fib_typed(n : int)
    if n < 2
        y = n
    else
        y = fib_typed(n-1) + fib_typed(n-2)
    end
end
fib_short = n -> n < 2 ? n : fib_short(n-1) + fib_short(n-2)
function y = ackermann(m, n)
    if m == 0
        y = n + 1
        return
    end
    if n == 0
        y = ackermann(m-1, 1)
    else
        y = ackermann(m-1, ackermann(m, n-1))
    end
end
function y = tak(x, y0, z)
    y = y0 >= x ? z : tak(tak(x-1, y0, z), tak(y0-1, z, x), tak(z-1, x, y0))
end
function r = is_even(n)
    r = n == 0 || is_odd(n-1)
end
function r = is_odd(n)
    r = n != 0 && is_even(n-1)
end
function g = common_divisor(a, b)
    g = b == 0 ? a : common_divisor(b, mod(a, b))
end
function n = collatz(k)
    n = 0
    while k != 1
        if mod(k, 2) == 0
            k = k/2
        else
            k = 3*k + 1
        end
        n += 1
    end
end
function [most, at] = longest(from, to)
    if from == to
        most = collatz(from)
        at = from
        return
    end
    middle = floor((from+to)/2)
    [a, i] = longest(from, middle)
    [b, k] = longest(middle+1, to)
    most = max(a, b)
    at = a >= b ? i : k
end
% The queens problem with columns and diagonals as bits.
function n = queens(all, columns, left, right)
    n = 0
    if columns == all
        n = 1
        return
    end
    free = and(all, not(or(columns, or(left, right))))
    while free != 0
        bit = and(free, -free)
        free = free - bit
        n += queens(all, or(columns, bit), and(all, shl(or(left, bit), 1)), shr(or(right, bit), 1))
    end
end
function y = total(v, i)
    y = i < 0 ? 0 : v[i] + total(v, i-1)
end
step = 2
function y = count_down(n)
    y = n <= 0 ? 0 : 1 + count_down(n - step)
end
print fib(24), " ", fib_typed(24), " ", type(fib_typed(5)), " ", fib_short(20)
print ackermann(2, 300), " ", tak(18, 12, 6)
print is_even(1000), " ", is_odd(1000), " ", is_even(7)
print common_divisor(1071, 462), " ", common_divisor(int(1071), int(462))
[most, at] = longest(1, 20000)
print most, " ", at
print queens(int(255), int(0), int(0), int(0))
print total(linspace(1, 100, 100), 99)
print count_down(100)
step = 5
print count_down(100)
function y = deep(n)
    if n == 0
        error("the end")
    end
    y = 1 + deep(n-1)
end
function y = endless(n)
    y = 1 + endless(n+1)
end
function y = tri(n)
    if n == 0
        y = 0
        return
    end
    y = n + tri(n-1)
end
function y = fact(n)
    y = n <= 1 ? int(1) : int(n)*fact(n-1)
end
function y = pick(v, i)
    if i < 0
        y = 0
        return
    end
    y = v[i] + pick(v, i-1)
end
function [q, r] = divide(a, b)
    if a < b
        q = 0
        r = a
        return
    end
    [q, r] = divide(a-b, b)
    q = q + 1
end
function y = maybe(n)
    if n > 0
        y = maybe(n-1)
    end
end
function y = typed(n : uint8)
    y = n == 0 ? 0 : 1 + typed(n-1)
end
for k = 1..3
try
    print deep(5)
catch e
    print e, " line ", e.line
end
try
    print endless(0)
catch e
    print e, " line ", e.line
end
print tri(10), " ", tri(3000), " ", tri(30000)
try
    print fact(20)
    print fact(25)
catch e
    print e, " line ", e.line
end
v = linspace(1, 10, 10)
print pick(v, 9)
try
    print pick(v, 12)
catch e
    print e, " line ", e.line
end
[a, b] = divide(103, 10)
print a, " ", b
print divide(77, 10)
try
    print maybe(3)
catch e
    print e, " line ", e.line
end
try
    print typed(200)
    print typed(300)
catch e
    print e, " line ", e.line
end
try
    print pick(x -> x, 1)
catch e
    print e, " line ", e.line
end
end
