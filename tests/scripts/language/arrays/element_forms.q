v = [10,20,30]
print v[1], v[0,2]
m = [[1,2,3],[4,5,6]]
print m[1,2], " ", m[[1,2]]
pos = [0,1]
print m[pos], " ", m[pos + [1,0]]
print v[[2,0]], " ", v[1.9]
print m[0,1,0]
c = ones(2,2,3)
c[1,0,2] = 5
print c[[1,0,2]]
