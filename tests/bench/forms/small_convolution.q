% A convolution with a mask of 3 x 3.
function [x, w] = inputs()
    x = reshape(mod(0..249999, 251)/8, [500,500])
    w = [[1,2,1],[2,4,2],[1,2,1]]/16
end
function y = with_for(x, w)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 1..m-2
        for j = 1..n-2
            s = 0
            for k = -1..1
                for l = -1..1
                    s += w[k+1,l+1]*x[i+k,j+l]
                end
            end
            y[i,j] = s
        end
    end
end
function y = with_sums_of_slices(x, w)
    [m, n] = size(x)
    y = zeros(m, n)
    for k = 0..2
        for l = 0..2
            y[1..m-2,1..n-2] += w[k,l]*x[k..m-3+k,l..n-3+l]
        end
    end
end
function y = with_windows(x, w)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 1..m-2
        for j = 1..n-2
            y[i,j] = sum(w.*x[i-1..i+1,j-1..j+1])
        end
    end
end
function [] = __kernel__ weighted(x : mat, w : mat, y : mat, pos : ivec2)
    if pos[0] > 0 && pos[1] > 0 && pos[0] < size(x,0)-1 && pos[1] < size(x,1)-1
        s = 0.0
        for k = -1..1
            for l = -1..1
                s += w[k+1,l+1]*x[pos[0]+k,pos[1]+l]
            end
        end
        y[pos] = s
    end
end
function y = with_kernel(x, w)
    y = zeros(size(x))
    parallel_do(size(x), x, w, y, weighted)
end
