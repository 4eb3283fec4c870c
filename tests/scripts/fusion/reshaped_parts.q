% devices: ref cpu opencl
% options: --loops always
% reshape and squeeze of a part of an array, inside an expression, read its elements in place; results are new arrays.
x = reshape(0..59, [3,4,5])
a = reshape(0..5, [2,3])
y = 2*reshape(x[1,1..2,1..3], [2,3]) + a
print y
print squeeze(x[2,0..1,4..-2..0]) - a
print sum(squeeze(x[:,3,:]).*reshape(x[:,0,:], [3,5]))
print reshape(x[0..1,2,0..2], [1,2,3]).*2
print reshape(x[1,1..2,1..3], [3,2]) + transpose(a)
a += 10*reshape(x[2,2..3,0..2], [2,3])
print a
x[1,0..1,0..2] = reshape(x[1,1..2,1..3], [1,2,3]) + 1
print squeeze(x[1,:,:])
u = uint8(x)
b = abs(reshape(u[0,0..1,0..2], [2,3]))
c = float(squeeze(x[0,0..1,0..2]))
d = reshape(x[0,0..1,0..2], [2,3])
b[0,0] = 77
c[0,0] = 77
d[0,0] = 77
print u[0,0,0], " ", x[0,0,0]
t = reshape(x[0,0..1,0..2], [2,3])
s = t + 1
r = t.*s
x[0,0,0] = -5
print t, s, r
g = grad(z -> sum(reshape(z[1,0..1,1..2], [2,2]).^2), x)
print find(g)
try
    print reshape(x[0,0..1,0..2], [4,2]) + 1
catch e
    print e
end
