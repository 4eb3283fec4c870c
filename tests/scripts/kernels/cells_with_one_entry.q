type s : mutable class
  c : vec3
end
function [] = __kernel__ k(x : vec[s], y : vec, pos : int)
   y[pos] = x[pos].c[1]
end
function [] = __kernel__ k2(x : vec[vec3], y : vec, pos : int)
   y[pos] = x[pos][1]
   x[pos] = 2*x[pos]
end
y = zeros(1)
v = {[1,2,3]}
try
parallel_do(1, v, y, k2)
print y, v
catch e
print e.message
end
parallel_do(1, {s(c:=[1,2,3])}, y, k)
print y
