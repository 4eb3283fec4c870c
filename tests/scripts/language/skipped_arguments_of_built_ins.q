% A named argument may follow optional arguments that are left out; null stands for such an argument, too.
function [] = says(f)
  try
    print f()
  catch e
    print e
  end
end
x = [[1,2,4],[3,5,9]]
v = [1,4,2,2]
print quantile(x, 0.3, method:="lower"), " ", percentile(x, 30, method:="higher"), " ", quantile(x, q:=0.3, method:="lower")
print var(x, ddof:=0), " ", std(x, ddof:=0)^2, " ", nanvar(x, ddof:=0), " ", nanstd(x, ddof:=0)^2
print min(x, dim:=1), max(x, dim:=0)
[m, i] = max(x, dim:=1)
print m, i
print interp1([0,1,2], [0,1,4], [0.5,3], outside:="clamp"), interp2(x, [0.5,3], [0.5,0], outside:=7)
print bincount(v, weights:=[0.5,1,2,3]), isclose(1, [1.1,2], atol:=0.5), " ", allclose(a:=1, b:=1.1, atol:=0.5)
print strftime("%H", utc:=true) == strftime("%H", time(), true)
print sort([3,1,2], null), sort([3,1,2], null, "descend"), meshgrid([1,2], null), meshgrid([1,2], null, null)
y = zeros(2, 2)
write_block(y, [0,0], ones(2,2), count:=[1,2])
print y
print grad(a -> sum(quantile(a, 0.5, method:="lower").*3), [5,1,4])
print grad(a -> var(a, ddof:=0), [1,2,3,6])
for k = 1..3
  print quantile([k,2,3], 0.9, method:="lower"), " ", max([[k,2]], dim:=1)
end
says(() -> var(ddof:=0))
says(() -> quantile(x, method:="lower"))
says(() -> quantile(x, 0.3, 0, dim:=1))
says(() -> quantile(x, 0.3, way:="lower"))
says(() -> quantile(x, 0.3, method:="nowhere"))
says(() -> trapz(v, dim:=1))
says(() -> meshgrid([1,2], zs:=[1,2]))
says(() -> sort(x, null, null, null))
