% Ints that barely fit into 8 or 16 bits, and ints that barely do not.
function [] = __kernel__ sums(x : vec[uint8], y : mat[int], pos : int)
    a = 0
    for k = 0..127
        a += x[pos] - 254
    end
    b = 0
    for k = 0..128
        b += x[pos]
        b += x[pos]
    end
    c = x[pos] > 100
    d = 0
    for k = 1..127
        d += c
    end
    e = 1
    for k = 1..20
        e *= 2
    end
    g = int(x[pos])
    if g > 200
        g = g*g
    else
        g = min(g, 5) - 10
    endif
    y[pos,0] = a
    y[pos,1] = b
    y[pos,2] = d + 1
    y[pos,3] = e
    y[pos,4] = g
    y[pos,5] = max(g, 0)*max(g, 0)
end

% The value of a local depends on the iteration count of a loop, which is unknown.
function [] = __kernel__ unknown(x : vec[int8], y : vec[int], n : int, pos : int)
    s = 0
    for k = 1..n
        s += x[pos]
    end
    t = 0
    while t < 1000*x[pos]
        t += 7
    end
    y[pos] = s - t
end

x = vec[uint8](300)
x[:] = mod(0..299, 256)
y = mat[int](300,6)
parallel_do(300, x, y, sums)
for k = [0, 100, 101, 201, 255, 299]
    print y[k,:]
end
print sum(y, 0)
z = vec[int8](4)
z[:] = [-128, -1, 1, 127]
w = vec[int](4)
parallel_do(4, z, w, 3000, unknown)
print w

% A chain longer than the analysis follows.
function [] = __kernel__ chain(x : vec, y : vec[int], pos : int)
    f = 0
    e = 0
    d = 0
    c = 0
    b = 0
    a = 0
    for k = 1..3
        f = e - 1
        e = d
        d = c
        c = b
        b = a
        a = x[pos] > k
    end
    y[pos] = a + 10*b + 100*c + 1000*d + 10000*e + 100000*f
end
v = vec[int](5)
parallel_do(5, 0..4, v, chain)
print v
