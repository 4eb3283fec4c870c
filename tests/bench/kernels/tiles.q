% The matrix product by hand, in tiles of shared memory.
import "measure.q"

function [] = __kernel__ product(a : mat'unchecked, b : mat'unchecked, c : mat'unchecked, pos : ivec2,
                                 blkpos : ivec2, blkdim : ivec2)
    ta = shared(16,16)
    tb = shared(16,16)
    s = 0.0
    for t = 0..16..size(a,1)-1
        ta[blkpos] = a[pos[0], t + blkpos[1]]
        tb[blkpos] = b[t + blkpos[0], pos[1]]
        syncthreads
        for k = 0..15
            s += ta[blkpos[0],k]*tb[k,blkpos[1]]
        end
        syncthreads
    end
    c[pos] = s
end

function c = multiply(a, b, c)
    parallel_do([size(c), [16,16]], a, b, c, product)
end

function [] = main()
    n = 512
    a = reshape(pattern(n*n, 37, 1021), [n,n])
    b = reshape(pattern(n*n, 53, 1019), [n,n])
    c = zeros(n,n)
    measure(() -> multiply(a, b, c))
end
