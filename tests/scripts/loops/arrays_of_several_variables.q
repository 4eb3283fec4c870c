% options: --loops always
% Variables of a loop that hold one array show each other's changes, in the loop and after it.
function [a, b] = exchange(n)
    a = [1, 2, 3]
    b = [0, 0, 0]
    for k = 1..n
        for i = 0..2
            b[i] = a[i] + k*a[mod(i+1, 3)]
        end
        t = a
        a = b
        b = t
    end
end
function [a, b] = exchange_lists(n)
    a = [1, 2, 3]
    b = [0, 0, 0]
    for k = 1..n
        b[mod(k, 3)] = a[0] + k
        [a, b] = [b, a]
    end
    a[0] = -1
end
function [p, q] = same_after(n)
    p = [1, 2]
    q = [3, 4]
    for k = 1..n
        q = [k, k + 1]
        p = q
    end
    q[0] = 100
end
function [p, q] = sometimes(n, p, q)
    for k = 1..n
        if k > 10
            p = p + 1
        end
    end
    p[0] = 100
end
function [p, q] = changed_later(n)
    p = [0, 0]
    q = [0, 0]
    for k = 1..n
        r = [k, 2*k]
        p = r
        if mod(k, 2) == 0
            q = r
        end
        r[1] += 10
        q[0] += 1
    end
end
function [p, q, r] = in_place(n)
    p = [0, 0]
    q = p
    for k = 1..n
        r = p
        r += k
        if k == 2
            p = [5, 5]
        end
    end
end
function [p, q] = operand(n)
    p = [0, 0]
    q = [0, 0]
    for k = 1..n
        p = [k, k]
        q = real(p)
    end
    p[0] = 100
end
function y = change(x, k)
    y = x
    y[0] = k
end
function [p, q] = by_function(n)
    p = [0, 0]
    q = [0, 0]
    for k = 1..n
        p = [k, k]
        q = change(p, -k)
    end
end
function [p, q] = captured(n)
    base = [7, 8]
    p = [0, 0]
    for k = 1..n
        p = base
        if k == 2
            p = [1, 2]
        end
    end
    p[1] = 50
    q = base
end
function [p, q] = of_a_call(a, n)
    p = zeros(2)
    for k = 1..n
        t = zeros(numel(a))
        m = numel(a) - 1
        for i = 0..m
            t[i] = a[m-i] + p[i]
        end
        p = t
    end
    q = t
end
[a, b] = exchange(4)
print a, b
[a, b] = exchange_lists(5)
print a, b
[a, b] = same_after(5)
print a, b
x = [1, 2]
[a, b] = sometimes(5, x, x)
print a, b
x = [1, 2]
[a, b] = sometimes(12, x, x)
print a, b
[a, b] = changed_later(5)
print a, b
[a, b] = changed_later(4)
print a, b
[a, b, c] = in_place(4)
print a, b, c
[a, b] = operand(3)
print a, b
[a, b] = by_function(3)
print a, b
[a, b] = captured(1)
print a, b
[a, b] = captured(2)
print a, b
[a, b] = captured(3)
print a, b
[a, b] = of_a_call([1, 2], 3)
b[0] = 1000
print a, b
p = [1, 2]
q = [3, 4]
for k = 1..3
    r = p
    p = q
    q = r
    q[0] += k
end
r[1] = 77
print p, q, r
