% Built-ins accept arguments by the names in their signature.
function [] = says(f)
  try
    print f()
  catch e
    print e
  end
end
x = [[1,2],[3,5]]
print sum(x, dim:=0)
print var(x, dim:=1, ddof:=0)
print var(ddof:=1, dim:=0, x:=x)
print linspace(b:=1, a:=0, n:=3)
print clamp(7, hi:=5), clamp(x:=-7, lo:=-3, hi:=5)
[v, i] = sort([3,1,2], dim:=1)
print v, i
print numel(randn(size:=[2,3]))
says(() -> var(x, ddof:=0))
says(() -> var(x, x:=1))
says(() -> sum(x, dims:=0))
says(() -> sum(dim:=0))
says(() -> min(x, dim:=1))
says(() -> zeros(2, n:=3))
says(() -> strcat("a", b:="b"))
says(() -> tic(x:=1))
% as one of several functions
function y = prod(a : string, b : string)
  y = a + b
end
print prod(x, dim:=1), prod("a", b:="b")
