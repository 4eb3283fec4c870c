% What a GPU is measured by; tests/bench/gpu.py makes a table of it.  Prints a row for each case: its name, the shortest
% and the median time of a call in milliseconds, and the bytes that it has to move, or 0.  args: divisor of all sizes.
import "kernels/measure.q"

function [] = __kernel__ saxpy(a : scalar, x : vec'unchecked, y : vec'unchecked, pos : int)
    y[pos] = a*x[pos] + y[pos]
end

function [] = __kernel__ stencil(x : mat'clamped, y : mat, pos : ivec2)
    s = 0.0
    for m = -2..2
        for n = -2..2
            s += x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s/25
end

function [] = __kernel__ nlmeans(x : mat'mirror, y : mat, pos : ivec2)
    total = 0.0
    weights = 0.0
    for dm = -5..5
        for dn = -5..5
            d = 0.0
            for pm = -1..1
                for pn = -1..1
                    e = x[pos[0]+pm, pos[1]+pn] - x[pos[0]+dm+pm, pos[1]+dn+pn]
                    d += e*e
                end
            end
            w = exp(-8*d)
            total += w*x[pos[0]+dm, pos[1]+dn]
            weights += w
        end
    end
    y[pos] = total/weights
end

function [] = __kernel__ forces(p : mat'unchecked, f : mat'unchecked, n : int, pos : int)
    {!kernel fast_math=true}
    fx = 0.0
    fy = 0.0
    fz = 0.0
    for j = 0..n-1
        dx = p[0,j] - p[0,pos]
        dy = p[1,j] - p[1,pos]
        dz = p[2,j] - p[2,pos]
        d = dx*dx + dy*dy + dz*dz + 0.01
        r = 1/(d*sqrt(d))
        fx += dx*r
        fy += dy*r
        fz += dz*r
    end
    f[0,pos] = fx
    f[1,pos] = fy
    f[2,pos] = fz
end

function [] = __kernel__ count(x : vec[uint8], h : vec[int], pos : int)
    h[x[pos]] += 1
end

function [] = __kernel__ touch(x : vec, pos : int)
    x[pos] += 1
end

function [] = report(name, bytes, work)
    work()
    work()
    times = zeros(15)
    for k = 0..14
        tic()
        work()
        times[k] = toc("")
    end
    times = sort(times)
    printf("%s %.6f %.6f %.0f\n", name, times[0], times[7], bytes)
end

% The same launch many times, waited for once.
function [] = launches(x, n)
    for k = 1..n
        parallel_do(numel(x), x, touch)
    end
end

function [] = main()
    by = 1
    if numel(args()) > 0
        by = str2num(args()[0])
    end
    n = floor(67108864/by)
    x = pattern(n, 37, 1021)
    y = pattern(n, 53, 1019)
    z = zeros(n)
    report("copy", 8*n, () -> copy(x))
    report("saxpy", 12*n, () -> parallel_do(n, 0.5, x, y, saxpy))
    report("fused", 12*n, () -> sqrt(x.*x + y.*y).*2 - x)
    report("sum", 4*n, () -> sum(x))
    m = floor(sqrt(n/4))
    a = reshape(pattern(m*m, 37, 1021), [m,m])
    b = zeros(m,m)
    report("stencil", 8*m*m, () -> parallel_do(size(b), a, b, stencil))
    r = floor(m/2)
    c = copy(a[0..r-1,0..r-1])
    d = zeros(r,r)
    report("nlmeans", 0, () -> parallel_do(size(d), c, d, nlmeans))
    k = floor(32768/sqrt(by))
    p = zeros(3,k)
    p[0,:] = pattern(k, 37, 1021)
    p[1,:] = pattern(k, 53, 1019)
    p[2,:] = pattern(k, 71, 1013)
    f = zeros(3,k)
    report("nbody", 0, () -> parallel_do(k, p, f, k, forces))
    u = vec[uint8](n)
    u[:] = 256*x
    h = vec[int](256)
    report("histogram", n, () -> parallel_do(n, u, h, count))
    report("matmul", 0, () -> a*b)
    t = zeros(32)
    report("launches", 0, () -> launches(t, 1000))
end
