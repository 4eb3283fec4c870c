% Positions that add to their neighbours in loops: vectors on the CPU, with any remainder of a row; the values are
% integral, so that the order of a sum does not matter.
function [] = __kernel__ spread(x : mat, y : mat, n : int, pos : ivec2)
    for k = 0..n-1
        for m = -1..1
            y[pos[0], pos[1]+k] += x[pos]*(k + 1)
            y[pos[0]+m, pos[1]+m+1] -= x[pos] + m
        end
    end
end
function [] = __kernel__ some(x : mat, y : mat, n : int, pos : ivec2)
    if mod(pos[1], 3) == 0
        return
    end
    for k = 0..n-1
        if x[pos] > k
            y[pos[0], pos[1]+k] += 1
        end
    end
    y[pos] += 3
end
function [] = __kernel__ crossing(x : vec'unchecked, y : vec'unchecked, n : int, pos : int)
    for k = 0..n-1
        y[pos+k] += x[pos]
        y[n+pos-k] += 2*x[pos]
    end
end

function h = mixed(y)
    h = 0
    for m = 0..size(y,0)-1
        for n = 0..size(y,1)-1
            h = mod(31*h + y[m,n] + 1000*n, 65521)
        end
    end
end

for n = [1, 2, 7, 31, 32, 33, 40, 64, 65, 100]
    x = reshape(mod(0..4*n-1, 7), [4,n])
    y = zeros(4, n+3)
    parallel_do([4,n], x, y, 4, spread)
    z = zeros(4, n+3)
    parallel_do([4,n], x, z, 4, some)
    w = zeros(n+9)
    parallel_do(n, x[0,:], w, 5, crossing)
    print n, " ", sum(y), " ", mixed(y), " ", sum(z), " ", mixed(z), " ", sum(w.*(1..n+9))
end
