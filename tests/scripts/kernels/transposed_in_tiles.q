% Kernels that follow columns run in nearly square blocks; all positions run, whatever the extents.
function [] = __kernel__ turn(x : mat, y : mat, pos : ivec2)
    y[pos[1],pos[0]] = x[pos]
end
function [] = __kernel__ rotate(x : mat, y : mat, n : int, pos : ivec2)
    y[pos] = x[pos[1],n-1-pos[0]]
end
function [] = __kernel__ move(x : cube, y : cube, pos : ivec3)
    y[pos] = x[pos[2],pos[0],pos[1]]
end
for [n,m] = {[1,1],[1,70],[31,33],[64,32],[100,257]}
    x = reshape(0..n*m-1, [n,m])
    y = zeros(m,n)
    z = zeros(m,n)
    parallel_do(size(x), x, y, turn)
    parallel_do(size(z), x, z, m, rotate)
    print max(abs(y - transpose(x))), " ", sum(abs(z[m-1..-1..0,:] - y))
end
x = reshape(0..5*67*35-1, [5,67,35])
y = zeros(67,35,5)
parallel_do(size(y), x, y, move)
print sum(abs(y - permute(x, [1,2,0])))
