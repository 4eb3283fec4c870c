% gcd and lcm in kernels: integers of all types lose no digit, and fractions are an error as on the host.
% devices: ref cpu opencl
function [] = __kernel__ integers(a, b, g, m, pos : int)
    g[pos] = gcd(a[pos], b[pos])
    m[pos] = lcm(a[pos], b[pos])
end
function [] = show(a, b, g, m)
    parallel_do(numel(a), a, b, g, m, integers)
    print g, m
end
a = int64(float64([3486784401,0,12,-12,-4,7*2^40]))
b = int64(float64([40353607,5,18,18,-6,21*2^30]))
show(a, b, int64(zeros(6)), int64(zeros(6)))
show(int64([9007199254740993,3037000499]), int64([1,3037000500]), int64(zeros(2)), int64(zeros(2)))
show(uint64([9223372036854775809,6]), uint64([3,4]), uint64(zeros(2)), uint64(zeros(2)))
show(int([100000,-12]), int([100003,18]), int(zeros(2)), int64(zeros(2)))
show(uint8([200,0]), uint8([150,0]), uint8(zeros(2)), int(zeros(2)))
show([12,100000], [-18,100003], zeros(2), float64(zeros(2)))
for wrong = {[0.5,3],[4,nan],[inf,2]}
    try
        show(wrong[0..0], wrong[1..1], zeros(1), zeros(1))
    catch e
        print e
    end
    try
        print gcd(wrong[0], wrong[1])
    catch e
        print e
    end
end
function [] = __kernel__ literals(y, pos : int)
    y[0] = lcm(100000, 100003)
    y[1] = lcm(int(4), 6)
    y[2] = gcd(int(pos), 6)
    y[3] = isint(4) + 10*isint(int(4)) + 100*isint(y[0]) + 1000*isint([pos,pos])
end
y = float64(zeros(4))
parallel_do(1, y, literals)
print y
