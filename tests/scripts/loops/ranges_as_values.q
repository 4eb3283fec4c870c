% options: --loops always --explain
% devices: cpu opencl
% A range is a value in a compiled loop: a short vector, or a row whose elements are computed where they are used.
function t = moments(h)
    t = zeros(numel(h), 3)
    for i = 1..numel(h)-1
        t[i,0] = sum((0..i-1).*h[0..i-1])
        t[i,1] = sum((i..-1..1).*h[0..i-1])
        d = i..i+numel(h)-1
        t[i,2] = sum(d.*h)
    end
end
function [] = fill(A, x)
    for i = 0..size(A,0)-1
        A[i,:] = 0..size(A,1)-1
        A[i,:] = A[i,:]*2 + (1..size(A,1))
        x[i..i+2] = (i-1..i+1)*0.5
    end
end
function [] = wide(x, y)
    for i = 0..1
        x[:] = i+16777215..i+16777214+numel(x)
        y[:] = (i+16777215..i+16777214+numel(x)) - x
    end
end
t = moments(mod((0..9)*7, 4) + 0.5)
print t[9,:], t[1,:]
A = zeros(3, 40)
x = zeros(5)
fill(A, x)
print A[2,36..39], x
y = float64(zeros(3))
z = float64(zeros(3))
wide(y, z)
printf("%.9g %.9g %.9g", y[0], y[1], z[2])
function [] = lengths(x, n)
    for i = 0..3
        x[0..n] = x[0..n] + (0..i)
    end
end
try
    lengths(zeros(9), 5)
catch e
    print e
end
