% x[[0,1]] of a matrix warns once per location: in kernels when compiled, in loops when reached.
function [] = __kernel__ take(x : mat, any, w : vec, y : vec, pos : int)
    y[pos] = x[[0,1]] + any[0..1] + x[[pos,1]] + w[0..1][0]
end
function [] = __kernel__ put(x : cube, y : mat'circular, pos : int)
    x[0..2] = y[[0,-1]]
end
x = reshape(0..15, [4,4])
y = zeros(2)
z = reshape(0..26, [3,3,3])
parallel_do(2, x, x, [3,0], y, take)
parallel_do(1, z, x, put)
print y, z[0,1,2]
total = 0
for i = 0..9
    total += x[[1,2]] + z[[1,2,0]] + x[[i-i,1]]
    if i > 9
        total += x[[2,2]]
    end
    if i > 8
        x[[3,3]] = i
    end
end
print total, " ", x[3,3]
