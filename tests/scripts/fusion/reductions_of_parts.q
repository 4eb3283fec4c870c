% options: --loops always
% tolerance: 1e-6
% Reductions of all elements of expressions with parts of arrays and stretched ones; nan, empty parts, derivatives.
function [] = check(x, c, r, w)
  n = size(x,0)
  print sum(x[:,0].*c), " ", max(abs(x[1..n-2,:] - x[0..n-3,:])), " ", mean((x - r).^2)
  print min(x + c), " ", sum((x > r).*w), " ", sum(x[:,1..2..5] - x[:,0..2..4]), " ", max(-x[3,:])
  y = reshape(x, [n/2,2,size(x,1)])
  print sum(y[:,1,:].*2), " ", max(y[1..3,:,2..9] - y[0..2,:,1..8]), " ", sum(y + reshape(r,[1,1,size(x,1)]))
  print sum(x[:,0..2].*c), " ", sum(int(x[1..5,:]*8)), " ", mean(x[:,3] > 0)
end
x = mod(reshape((0..15999)*7, [400,40]), 64)/8 - 3
for k=1..3
check(x, x[:,1], x[0,:], 3)
end
a = [[1.0,2,0/0],[4,5,6]]
print max(a[:,1..2] + 1), " ", sum(a[:,0..1].*2), " ", min(a[0..1,2].*1)
try
    print sum(a[:,0..1] + a[:,0..2])
catch e
    print e
end
print sum(a[1..0,:].*2)
print grad(v -> mean((v[:,0..1] - v[0,1]).^2), [[1.0,2,3],[4,5,6]])
