% Rows of bytes of any length: the last vector overlaps the one before, unless that would change the result.
function [] = __kernel__ smooth(x : mat[uint8]'clamped, y : mat[uint8], pos : ivec2)
    s = 0
    for m = -1..1
        for n = -1..1
            s += x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s/9
end

function [] = __kernel__ add(x : mat[uint8], y : mat[uint8], pos : ivec2)
    y[pos] = y[pos] + x[pos]
end

function [] = __kernel__ next(x : vec[uint8], pos : int)
    x[pos] += pos
end

function [] = main()
    for n = [1, 2, 31, 32, 33, 34, 35, 63, 64, 65, 66, 67, 97, 130, 1000]
        x = mat[uint8](3, n)
        x[:,:] = reshape(mod((0..3*n-1)*37, 251), [3,n])
        y = mat[uint8](3, n)
        parallel_do(size(x), x, y, smooth)
        t = sum(y)
        parallel_do(size(x), x, y, add)
        u = sum(y)
        parallel_do(size(x), y, y, add)
        v = vec[uint8](n)
        parallel_do(n, v, next)
        print n, " ", t, " ", u, " ", sum(y), " ", sum(v), " ", y[2,n-1]
    end
end
