% needs: python numpy
% devices: one
% The explicit conversion takes any layout; memory is shared if the layout and element type allow it.
np = pyimport("numpy")
py = pyimport("builtins")
a = np.arange(6, dtype:=np.float64)
b = a.from_py()
b[0] = 42
print a[0], " ", type(b)
print from_py(np.arange(6, dtype:=">i4")), from_py(np.arange(6)[4..-1..0]), from_py(np.broadcast_to(np.float64(3), {2,2}))
d = from_py(np.arange(24, dtype:=np.int16).reshape(2,3,4).transpose(2,0,1))
print size(d), type(d), d[1,:,:]
f = from_py(np.asfortranarray([[1,2,3],[4,5,6]]))
print f, f*2
print from_py(np.array(3.5)), " ", from_py(np.float32(2.5)), from_py(np.zeros(0)), type(from_py(np.zeros({0,3})))
r = np.ones(3)
r.flags.writeable = false
q = from_py(r)
try
  q[0] = 2
catch e
  print e
end
s = np.zeros(3, dtype:=py.list({py.tuple({"x","u1"}), py.tuple({"y","f8"})}))
s["y"] = {1,2,3}
print from_py(s["y"])
print from_py(py.bytes("abc", "ascii")), type(from_py(py.bytes("abc","ascii")))
print from_py(py.list({1,2,3})), from_py(py.list({1,"a"})), from_py(np.array(py.list({"a","bc"})))
print from_py(py.dict(a:=1, b:=py.list({1,2})))
print from_py(np.array({1+2j, 3})), type(from_py(np.array({1+2j,3})))
print type(from_py(np.zeros(3, dtype:=np.float16))), type(from_py(np.zeros(3, dtype:=py.bool))), type(from_py(np.zeros(1, dtype:=np.uint64)))
print from_py(5), from_py("x"), from_py(pyint(7))
for bad = {py.object(), np.zeros(2, dtype:="datetime64[s]"), np.zeros({2,2,2,2,2,2,2,2,2}), np.zeros(2, dtype:=np.longdouble)}
  try
    from_py(bad)
  catch e
    print e
  end
end
