% Blocks of a given size, complete ones and ones that the domain cuts off.
function [] = __kernel__ sums(x : mat, y : mat, pos : ivec2, blkpos : ivec2, blkdim : ivec2)
    t = shared_zeros(4,8)
    t[blkpos] = x[pos]
    syncthreads
    s = 0
    for i = 0..3
        for j = 0..7
            s += t[i,j]
        end
    end
    syncthreads
    t[blkpos] = s + blkpos[1]
    syncthreads
    y[pos] = t[blkpos[0], 7 - blkpos[1]] + 1000*blkdim[0]
end

for size = [[4,8], [8,24], [1,1], [5,9], [3,17], [13,7]]
    x = reshape(0..prod(size)-1, size)
    y = zeros(size)
    parallel_do([size, [4,8]], x, y, sums)
    print size, " ", sum(y), " ", y[size[0]-1, size[1]-1]
end

% The same kernel with blocks of another size.
y = zeros(6,6)
parallel_do([[6,6], [2,4]], ones(6,6), y, sums)
print y
