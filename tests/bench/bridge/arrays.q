m = pyimport("peer")
np = pyimport("numpy")
n = 200000
v = [1,2,3]
a = np.arange(10, dtype:=np.float64)
printf("np.asarray(qvalue)|%.1f", m.loop(np.asarray, n, v))
printf("np.asarray(array.array)|%.1f", m.loop(np.asarray, n, pyimport("array").array("f", py_list())))
function [] = run(n)
    for i=1..n
        b = from_py(a)
    end
end
function l = py_list()
    l = pyimport("builtins").list({1,2,3})
end
tic()
run(n)
printf("from_py(float64 array)|%.1f", toc("")/n*1e6)
