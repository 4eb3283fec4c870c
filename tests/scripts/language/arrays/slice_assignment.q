m = zeros(3,3)
m[1,:] = [1,2,3]
m[:,0] = 9
m[0..1,1..2] = [[5,6],[7,8]]
print m
m[:] = 4
print sum(m)
m[:,:] = ones(3,3)
print sum(m)
v = 0..5
v[1..5] = v[0..4]
print v
w = v
w[:] = w + 1
print v
v[[0,2]] += 100
print v
