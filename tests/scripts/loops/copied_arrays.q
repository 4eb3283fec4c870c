% options: --explain --loops always
% devices: cpu opencl
% exit: 3
% Copies and other new arrays of a loop are arrays that no variable holds, also where arrays have several names.
function [a, b] = diffuse(x, steps)
    a = x
    for k = 1..steps
        b = copy(a)
        for i = 1..numel(x)-2
            b[i] = (a[i-1] + 2*a[i] + a[i+1])/4
        end
        a = b
    end
    b[0] = 100 % the array of a, if there was a step
end
function [u, v, before] = swing(n, steps)
    u = mod((0..n-1)*7, 11)
    v = u
    before = 0
    for k = 1..steps
        before = u
        v = v - u*0.125
        u = u + v*0.5
    end
end
function [a, b, k] = stop(x, most)
    a = x
    b = x*2
    k = 0
    while k < 100
        b = copy(a)
        b[k] = b[k+1] + k
        if b[k] > most
            break
        end
        a = b
        k += 1
    end
end
function [m, before] = matrices(m, steps)
    for k = 1..steps
        before = m
        m = m*0.5 + 1
        m[0,k] = -1
    end
end
function [a, c] = ints(a, steps)
    for k = 1..steps
        c = copy(a)
        c[k] += c[k-1]
        a = c
    end
end
function [a, b] = fails(x)
    a = x
    for k = 1..100
        b = copy(a)
        b[0] = a[k*8]
        a = b
        a[1] = k
    end
end
x = mod((0..39)*7, 11)
[a, b] = diffuse(x, 9)
print a[0..3], b[0..3], x[0..3]
[u, v, before] = swing(40, 8)
print u[0..2], v[0..2], before[0..2]
[a, b, k] = stop(x, 30)
print a[0..3], b[0..3], k, x[0..3]
m = ones(6, 7)
[a, before] = matrices(m, 3)
print a[0,0..4], before[0,0..4], m[0,0..4]
i = uint8(x)
[a, c] = ints(i, 5)
print a[0..6], c[0..6], i[0..6], type(c)
try
    fails(x)
catch e
    print e
end
a = x
try
    for k = 1..100
        b = copy(a)
        b[0] = a[k*8]
        a = b
        a[1] = k
    end
catch e
    print a[0..2], b[0..2], x[0..2], k
end
exit(3)
