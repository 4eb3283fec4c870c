function [] = __kernel__ forces(p : mat'unchecked, f : mat'unchecked, n : int, pos : int)
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
n = 4096
p = zeros(3,n)
for i = 0..n-1
    p[0,i] = mod(i*37, 101)/101
    p[1,i] = mod(i*53, 103)/103
    p[2,i] = mod(i*71, 107)/107
end
f = zeros(3,n)
best = 1/0
for k = 1..8
    tic()
    parallel_do(n, p, f, n, forces)
    best = min(best, toc(""))
end
print best, " ", sum(abs(f))
