% Kernels that look for the largest or smallest element of a row: loops along rows become vectors.  NaN never wins, the
% first of equal elements does (for >= the last one), and short rows, rows of NaN and rows of -inf give what the loop says.
function [] = __kernel__ largest(x : mat, y : mat, pos : int)
    top = x[pos,0]
    low = x[pos,0]
    for j = 1..size(x,1)-1
        top = max(top, x[pos,j])
        low = min(low, x[pos,j] + 0.5)
    end
    y[pos,0] = top
    y[pos,1] = low
end
function [] = __kernel__ first_and_last(x : mat, y : mat, pos : int)
    top = x[pos,0]
    first = 0
    last = 0
    bottom = x[pos,0]
    for j = 0..size(x,1)-1
        if x[pos,j] > top
            top = x[pos,j]
            first = j
        end
        if x[pos,j] <= bottom
            bottom = x[pos,j]
            last = j
        end
    end
    y[pos,0] = top
    y[pos,1] = bottom
    y[pos,2] = first
    y[pos,3] = last
end
function [] = __kernel__ of_integers(x : mat[int], y : mat, pos : int)
    best = x[pos,0]
    at = 0
    for j = 1..size(x,1)-1
        if x[pos,j] < best
            best = x[pos,j]
            at = j
        end
    end
    y[pos,0] = best
    y[pos,1] = at
end
function [] = __kernel__ softmax(x : mat, y : mat, pos : int)
    top = x[pos,0]
    for j = 1..size(x,1)-1
        top = max(top, x[pos,j])
    end
    s = 0.0
    for j = 0..size(x,1)-1
        y[pos,j] = exp(x[pos,j] - top)
        s += y[pos,j]
    end
    for j = 0..size(x,1)-1
        y[pos,j] /= s
    end
end

for n = [1,31,32,33,34,100,257]
    x = reshape(mod((0..5*n-1)*7919, 101)/8, [5,n])
    x[1,:] = nan
    x[2,:] = -inf
    x[3,0..2..n-1] = nan
    y = zeros(5,2)
    parallel_do(5, x, y, largest)
    print n, y
    y = zeros(5,4)
    parallel_do(5, x, y, first_and_last)
    print y
    y = zeros(5,2)
    parallel_do(5, int32(mod((reshape(0..5*n-1, [5,n]) + 50)*31, 97)), y, of_integers)
    print y
    x = reshape(mod((0..5*n-1)*7919, 101)/8, [5,n])
    y = zeros(5,n)
    parallel_do(5, x, y, softmax)
    printf("%.4f %.4f", max(abs(sum(y,1) - 1)), max(y))
end
