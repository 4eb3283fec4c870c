% needs: python numpy
% devices: one
% a += b is Python's own in-place operator: the change is visible through other names of the object.
np = pyimport("numpy")
py = pyimport("builtins")
a = np.array({1.5,2,3})
b = a
a += 1
a *= 2
a -= [1,1,1]
a /= 2
print b, py.id(a) == py.id(b)
l = py.list({1})
k = l
l += py.list({2})
print k
n = pyint(3)
m = n
n += 1
print n, m
x = np.zeros({2,2})
x[0,:] += 5
x[1,1] -= 1
print x
