% needs: python numpy
% devices: one
py = pyimport("builtins")
np = pyimport("numpy")
x = np.arange(12).reshape(3,4)
print x[1,2], " ", x[1], " ", x[-1,0]
print x[1,:]
print x[0..1,1..2]
print x[2..-1..0,0]
print x[[0,2],:]
print x[:,[0,1,3]]
print x[x > 5]
x[0,:] = [9,8,7,6]
x[1..2,0] = 5
x[:,1] += 100
print x
l = py.list({10,20,30,40})
print l[0], " ", l[1..2], " ", l[3..-2..0], " ", l[-1]
l[0] = "ten"
d = py.dict()
d["k"] = 1
d[2] = "two"
print l, d, d[2]
try
  d["missing"]
catch e
  print e
end
