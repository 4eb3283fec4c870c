reduction x -> x.T = transpose(x)
print [[1,2],[3,4]].T
v = [1,2]
print v.T
