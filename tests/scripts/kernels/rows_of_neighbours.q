% Neighbouring positions that read rows of their own run together: their sums have the bits of one position after another.
% devices: ref cpu
function [] = __kernel__ products(x : mat, y : mat, z : mat, pos : ivec2)
    s = 0.0
    for k = 0..size(x,1)-1
        s += x[pos[0],k]*y[pos[1],k]
    end
    z[pos] = s
end
function [] = __kernel__ norms(x : mat, y : mat, z : mat, pos : int)
    s = 0.0
    p = 1.0
    n = 0
    for k = size(x,1)-1..-1..0
        s += abs(x[pos,k])
        p = 0.5*p + x[pos,k]*y[0,k]
        n += k
    end
    z[pos,0] = s
    z[pos,1] = p
    z[pos,2] = n
end
function [] = __kernel__ shifted(x : mat'mirror, y : mat, z : mat, pos : ivec2)
    s = 0.0
    for m = 0..1
        for k = 0..size(y,1)-1
            s += x[pos[1]+m,k-2]*y[pos[0],k]
        end
        s *= 0.5
    end
    z[pos] += s
end
function [] = __kernel__ bounded(x : mat, y : mat, z : mat, pos : ivec2)
    s = 0.0
    for k = 0..size(y,1)-1
        d = x[pos[1],k+1] - y[pos[0],k]
        s = s + d*d > 40 ? s/2 : s + d*d
    end
    z[pos] = s
end
function [] = __kernel__ aliased(x : mat, y : mat, z : mat, pos : int)
    s = 0.0
    for k = 0..size(x,1)-2
        s += x[pos,k]
    end
    x[pos,size(x,1)-1] = s
    z[pos,0] = s
end
function [] = compare(x, y, z, n, f)
    a = copy(x)
    b = copy(x)
    u = copy(z)
    v = copy(z)
    parallel_do(n, a, y, u, f)
    serial_do(n, b, y, v, f)
    print isequal(u, v) && isequal(a, b)
end
for [n,m] = {[1,3],[7,16],[8,1],[19,33],[70,65]}
    x = rand(n,m) - 0.25
    y = rand(n+2,m) - 0.25
    z = ones(n+2,max(n,3))
    for d = [false,true]
        if d
            [x, y, z] = {float64(x), float64(y), float64(z)}
        end
        compare(y, x, z, [n+2,n], products)
        compare(x, y, z, n, norms)
        compare(x, y, z, [n+2,n], shifted)
        compare(x, y, z, [n+2,n], bounded)
        compare(x, y, z, n, aliased)
    end
end
x = rand(40,40)
z = zeros(40,40)
parallel_do([40,40], x, x, z, products)
print max(abs(z - x*transpose(x))) < 1e-5
