% needs: python numpy
% devices: one
import "pyquasar.${BITNESS}.${NATIVEEXT}"
py = pyimport("builtins")
np = pyimport("numpy")
reduction x -> x.T = np.transpose(x)
v = np.array([[1,2,3],[4,5,6]])
print v.T
print (v + 1).T.shape
py = pyimport("builtins")
types = pyimport("types")
m = types.ModuleType("m")
m.T = "an attribute of a module stays one"
print m.T
try
  np.T
catch e
  print e
end
