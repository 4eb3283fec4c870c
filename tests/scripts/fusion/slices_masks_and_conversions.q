% devices: ref cpu opencl
% Slices, masks, choices and conversions inside expressions agree with the same operations one by one.
function [] = compare(name, a, b)
    same = type(a) == type(b) && isequal(size(a), size(b))
    d = max(abs(float64(a) - float64(b)))
    if !same || !(d <= 1e-6*max(abs(float64(b))))
        print name, " differs: ", type(a), " ", type(b), " ", size(a), " ", size(b), " ", d
    end
end

n = 40000
x = mod((0..n-1)*7919, 1024)/128 - 4
y = mod((0..n-1)*104729, 1001)/128 - 4
A = reshape(x, [200,200])
B = reshape(y, [200,200])
R = reshape(x[0..29999], [100,100,3])
u = uint8(x*20 + 100)
big = int64(x*1e10)
row = y[0..199]
column = transpose(x[0..199])
for k = 1..200                         % long enough to be compiled
    d1 = x[1..n-1] - x[0..n-2]
    d2 = (x[2..n-1] - 2*x[1..n-2] + x[0..n-3]).*0.5
    back = x[n-1..-1..0].*y + x[n-1..-1..0]
    thin = x[0..2..n-1] + 2*y[1..2..n-1]
    g = (A[1..198,2..199] - A[1..198,0..197]).^2 + (A[2..199,1..198] - A[0..197,1..198]).^2
    gray = 0.3*R[:,:,0] + 0.59*R[:,:,1] + 0.11*R[:,:,2]
    weighed = R.*reshape([0.3,0.6,0.1],[1,1,3]) + R[:,:,0]
    stretched = (A + column).*row - A[3,:] + A[:,4]
    w = where(x > y, x, -y)*2
    p = pow(x, 2) + pow(2, y)
    m = x > 0 && !(y > 1) || x < -4
    v = (x > 0 && y > 0) ? x[0..n-1] : y
    c = uint8(x*40 + y*30)
    c2 = int16(x*1e4) + int(y*0.7) + uint32(x*1e3) + int8(u)
    c3 = float(u)/255 + float64(c)*0.1
    c4 = int(big)*1 + uint16(big - 3)
    total = sum(x[1..n-1].*y[0..n-2])
    x[0..9] = x[0..9]*1
end
a = x[1..n-1]
b = x[0..n-2]
compare("d1", d1, a - b)
a = x[2..n-1]
b = x[1..n-2]
b = 2*b
a = a - b
b = x[0..n-3]
a = a + b
compare("d2", d2, a.*0.5)
a = flip(x, 1)
b = a.*y
compare("back", back, b + a)
b = y[1..2..n-1]
b = 2*b
a = x[0..2..n-1]
compare("thin", thin, a + b)
a = A[1..198,2..199]
b = A[1..198,0..197]
a = a - b
a = a.^2
b = A[2..199,1..198]
e = A[0..197,1..198]
b = b - e
b = b.^2
compare("g", g, a + b)
a = R[:,:,0]
a = 0.3*a
b = R[:,:,1]
b = 0.59*b
a = a + b
b = R[:,:,2]
b = 0.11*b
compare("gray", gray, a + b)
a = R.*reshape([0.3,0.6,0.1],[1,1,3])
b = R[:,:,0]
compare("weighed", weighed, a + b)
a = A + column
a = a.*row
b = A[3,:]
a = a - b
b = A[:,4]
compare("stretched", stretched, a + b)
a = x > y
b = -y
a = where(a, x, b)
compare("w", w, a*2)
a = pow(x, 2)
b = pow(2, y)
compare("p", p, a + b)
a = y > 1
a = !a
b = x > 0
b = b && a
a = x < -4
compare("m", m, b || a)
a = x > 0
b = y > 0
a = a && b
compare("v", v, a ? x : y)
a = x*40
b = y*30
a = a + b
compare("c", c, uint8(a))
a = x*1e4
a = int16(a)
b = y*0.7
b = int(b)
a = a + b
b = x*1e3
b = uint32(b)
a = a + b
b = int8(u)
compare("c2", c2, a + b)
a = float(u)
a = a/255
b = float64(c)
b = b*0.1
compare("c3", c3, a + b)
a = int(big)
a = a*1
b = big - 3
b = uint16(b)
compare("c4", c4, a + b)
a = x[1..n-1]
b = y[0..n-2]
b = a.*b
compare("total", total, sum(b))

% A scalar condition stays a scalar, and the branch that is not chosen is not evaluated.
k = 0
print k && x, " ", 1 || x, " ", type(1 && x), " ", type(where(true, 3, x[0]))
% The memory of an array that is only read is not reused.
s = abs(u[1..n-1])
s[0] = 3
print u[1]
