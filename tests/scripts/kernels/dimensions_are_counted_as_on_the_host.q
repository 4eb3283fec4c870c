% A vec is 1xN in every message: its elements are along dimension 1.
function [] = __kernel__ first(x : vec'checked, pos : int)
  x[pos+5] = 1
end
function [] = __kernel__ row(x : mat'checked, pos : int)
  x[7,0] = pos
end
function [] = __kernel__ column(x : mat'checked, pos : int)
  x[0,pos+5] = 1
end
function [] = __kernel__ small(pos : int, y : vec)
  v = [1,2,3]
  y[pos] = v[4]
end
function [] = __kernel__ three(v : vec3, pos : int)
  v[0] = pos
end
function [] = __kernel__ square(m : mat(3,3), pos : int)
  m[0,0] = pos
end
function [] = says(f)
  try
    f()
  catch e
    print e
  end
end
x = zeros(4)
m = zeros(3,4)
says(() -> x[7])
says(() -> m[5,0])
says(() -> m[0,5])
says(() -> pos2ind([1,4], [0,9]))
says(() -> parallel_do(1, x, first))
says(() -> parallel_do(1, m, row))
says(() -> parallel_do(1, m, column))
says(() -> parallel_do(1, x, small))
says(() -> parallel_do(1, x, three))
says(() -> parallel_do(1, m, square))
