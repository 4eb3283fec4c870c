% The launch covers the leading dimensions, one position each.
function [] = __kernel__ sums(x : cube, y : mat, pos : ivec2)
    s = 0.0
    for p = 0..size(x,2)-1
        s += x[pos[0],pos[1],p]
    end
    y[pos] = s
end
function [] = __kernel__ rows(n : vec, pos : int)
    n[pos] += 1
end
function [] = __kernel__ fixed(n : vec, pos : vec(1))
    n[pos[0]] += 1
end
function [] = __kernel__ inner(n : vec, pos : int)
    n[pos] += 1
end
function [] = __kernel__ outer(n : mat, v : vec, pos : int)
    if pos == 0
        parallel_do(size(n), v, inner)
        parallel_do([1,4,1], v, inner)
        parallel_do([[5,3],[1,1]], v, inner)
    endif
end
x = reshape(0..59, [4,5,3])
y = zeros(4,5)
parallel_do(size(x), x, y, sums)
print y
n = zeros(4)
parallel_do([4,3], n, rows)
serial_do([4,3,2], n, rows)
parallel_do([[4,3],[2,1]], n, rows)
print n
parallel_do([4,0], n, rows)
parallel_do([1,4], n, rows)
parallel_do([1,4,1], n, fixed)
parallel_do([2,4,1], n, fixed)
print n
v = zeros(8)
parallel_do(1, zeros(3,7), v, outer)
print v
