% options: --loops always
% Variables of a loop exchange their arrays, and hold after it the arrays that the interpreter gives them.
function [a, b, t] = diffuse(n, steps)
    a = mod((0..n-1)*7, 11)
    b = zeros(n)
    t = [-1]
    for k = 1..steps
        for i = 1..n-2
            b[i] = (a[i-1] + 2*a[i] + a[i+1])/4
        end
        t = a
        a = b
        b = t
    end
    t[0] = 100 % the array of b, if there was a step
end
function [a, b, c] = rotate(n, steps)
    a = ones(n)
    b = zeros(n)
    c = int(0..n)
    for k = 1..steps
        a[k] = b[k+1] + 2*c[k+2]
        [a, b, c] = [b, c, a]
    end
end
function [a, b, k] = stop(n, most)
    a = ones(n)
    b = zeros(n)
    k = 0
    while k < 100
        t = a
        a = b
        if k > 0
            a[k] = t[k-1] + t[k] + 1
        end
        if a[k] > most
            break
        end
        b = t
        k += 1
    end
end
function [a, b] = skip(n)
    a = ones(n)
    b = 2*ones(n)
    for k = 1..7
        a[k] = 10*k
        if mod(k, 3) == 0
            continue
        end
        t = a
        a = b
        b = t
    end
end
function [a, b, c] = one_array(n)
    a = zeros(n)
    b = a
    c = ones(n)
    for k = 1..5
        a[k] += b[k-1] + 1
        b = a
        a = c
        c = b
    end
end
function [a, b] = fail(n, steps)
    a = zeros(n)
    b = ones(n)
    try
        for k = 1..steps
            t = a
            a = b
            a[k] = b[k-1] + 1
            b = t
        end
    catch e_
        print e_
    end
end
function y = distances(x, z)
    m = numel(z)
    before = 0..m
    now = zeros(m+1)
    for i = 1..numel(x)
        now[0] = i
        for j = 1..m
            now[j] = min([before[j]+1, now[j-1]+1, before[j-1]+(x[i-1] != z[j-1])])
        end
        [before, now] = [now, before]
    end
    y = before[m]
end
function [a, b] = slices(n)
    a = mod((0..n-1)*5, 9)
    b = zeros(n)
    for k = 1..6
        b[1..n-2] = a[0..n-3] + a[2..n-1]
        if sum(b) > 1000
            b[0] = 1
        else
            b[1..n-2] = b[1..n-2]*0.5
        end
        [a, b] = [b, a]
    end
end
for steps = [0, 1, 4, 5]
    [a, b, t] = diffuse(40, steps)
    print a[0..5], " ", b[0..5], " ", t[0]
end
[a, b, c] = rotate(40, 7)
print a[0..8], " ", b[0..8], " ", c[0..8], " ", type(a[0]), " ", numel(c)
[a, b, k] = stop(50, 9)
print a[0..9], " ", b[0..9], " ", k
[a, b] = skip(40)
print a[0..8], " ", b[0..8]
[a, b, c] = one_array(40)
a[0] = -1
print a[0..6], " ", b[0..6], " ", c[0..6]
[a, b] = fail(40, 45)
print a[36..39], " ", b[36..39]
print distances(mod(0..299, 7), mod(0..199, 5))
[a, b] = slices(40)
print a[0..5], " ", b[0..5]
% The condition of a loop reads the array that a variable holds now.
function [k, a] = relax(n, most)
    a = zeros(n)
    b = zeros(n)
    k = 0
    while a[0] < most
        [a, b] = [b, a]
        k += 1
        a[0] = k
    end
end
function [k, a] = repeated(n, most)
    a = zeros(n)
    b = zeros(n)
    k = 0
    repeat
        t = a
        a = b
        b = t
        k += 1
        a[0] = k
    until a[0] >= most
end
[k, a] = relax(40, 999)
print k, " ", a[0]
[k, a] = repeated(40, 999)
print k, " ", a[0]
