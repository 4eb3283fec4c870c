% needs: python numpy
% devices: one
py = pyimport("builtins")
np = pyimport("numpy")
for f = {() -> pyimport(3), () -> py.missing, () -> py(1), () -> pyfunc(3), () -> py.len(5), () -> pyint("x"), () -> pyint(1/0), () -> np.zeros(2)[5], () -> np.zeros(2)["a"]}
  try
    f()
  catch e
    print e
  end
end
