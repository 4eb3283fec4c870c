% devices: ref cpu
% The condition of a choice may have slices and elements of arrays; long expressions are one kernel, too.
x = mod((0..39999)*7919, 1024)/256 - 2
A = reshape(x, [200,200])
n = 200
flags = [true,false]
for k = 1..60                          % long enough to be compiled
    f = A[:,1..n-1] - A[:,0..n-2]
    g = f.*(A[:,1..n-1] + A[:,0..n-2]) > 0 ? 0 : f
    s = flags[0] ? f : 2*f
    t = A[1..n-1,:] > 0 ? A[0,0] : 3
    u = x + 1 - x.*2 + x./3 - x.*4 + x - 5*x + x.*x - x/6 + x.*7 - x + x.*0.5 - x.*0.25 + x - x + 8*x
end
a = f.*(A[:,1..n-1] + A[:,0..n-2])
a = a > 0
b = zeros(size(f))
b[:] = f
b[a] = 0
print any(g != b), " ", any(s != f), " ", size(t), " ", sum(u)
