% Several updates of one array by one position: each sees the result of the previous ones, on every device; a row of a
% matrix that is as long as a strip, in a larger matrix; uint64 numbers in an int64 array.
function [] = __kernel__ again(y : vec'unchecked, x : vec'unchecked, pos : int)
    y[pos] += x[pos]
    y[pos+1] += 1
    y[pos] += 2
end
function [] = __kernel__ own_and_others(y : vec[int]'unchecked, x : vec'unchecked, pos : int)
    y[pos] += 1
    if x[pos] > 3
        y[pos+3] -= 1
    end
    y[pos] += 2
end
function [] = __kernel__ part(y : mat, x : mat'unchecked, n : int, pos : ivec2)
    w = 1
    for j = 0..n-1
        w += x[pos]*j
    end
    y[pos] = w
end
function [] = __kernel__ wide(n : vec[int64], x : vec[uint64], pos : int)
    n[0] += x[pos]
end
y = zeros(100)
parallel_do(96, y, ones(96), again)
print y[0..3], sum(y)
y = vec[int](5000)
parallel_do(4096, y, mod((0..4095)*7, 11), own_and_others)
print y[0..7], sum(y)
for size = {[1,32], [4,100], [10,40]}
    y = zeros(12,105)
    parallel_do(size, y, ones(size), 4, part)
    print y[0,0..2], sum(y)
end
n = vec[int64](2)
parallel_do(2, n, uint64([1,2]), wide)
print n
