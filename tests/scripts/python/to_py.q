% needs: python numpy
% devices: one
np = pyimport("numpy")
py = pyimport("builtins")
m = [[1,2],[3,4]]
n = m.to_py()
n[0,0] = 9
print m, n.dtype, " ", py.type(n)
print [1.0,2.0,3.0,4.0].to_py().astype(py.int)
print np.asarray(m)[0,0], " ", np.sum(m), " ", np.sin([0.0])
print uint8([1,2,3]).to_py().dtype, " ", [1+2j,3].to_py().dtype, " ", ([1,2]==1).to_py().dtype
print zeros(0).to_py().shape, zeros(2,3,4).to_py().shape
print {1,2}.to_py(), " ", {1,2}.to_py().dtype, " ", {1.5,2}.to_py().dtype, " ", {"a",1}.to_py().dtype
print np.reshape(np.array([1,2,3]), {3,1}).shape, np.reshape(np.array([1,2,3]), pyint([3,1])).shape
x = ones(1000)
y = x.to_py()
x = []
print y.sum()
