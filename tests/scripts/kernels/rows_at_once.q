% devices: cpu
% Kernels that read along columns, of arrays whose last two axes can be merged: short rows and long ones, few and many.
function [] = __kernel__ columns(x : mat'safe, y : mat, pos : ivec2)
    s = 0.0
    for k = -3..3
        s += (k+4)*x[pos[0]+k, pos[1]]
    end
    y[pos] = s
end

function [] = __kernel__ window(x : mat'safe, y : mat, pos : ivec2)
    s = 0.0
    for m = -2..2
        for n = -1..1
            s += (m+0.5*n)*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s
end

function [] = __kernel__ mirrored(x : mat'mirror, y : mat, pos : ivec2)
    s = 0.0
    for k = -3..3
        s += (k+4)*x[pos[0]+k, pos[1]]
    end
    y[pos] = s
end

% The same without kernels: row m of y is the sum of rows of x.
function y = moved(x, m, n)
    y = zeros(size(x))
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            if i+m >= 0 && i+m < size(x,0) && j+n >= 0 && j+n < size(x,1)
                y[i,j] = x[i+m,j+n]
            end
        end
    end
end

function d = apart(x, kernel, m, n, weight)
    y = uninit(size(x))
    z = zeros(size(x))
    parallel_do(size(x), x, y, kernel)
    for i = -m..m
        for j = -n..n
            z += weight(i, j)*moved(x, i, j)
        end
    end
    d = max(abs(y - z))
end

function s = value(x)
    y = uninit(size(x))
    parallel_do(size(x), x, y, mirrored)
    s = sum(y.*y)
end

% The directional derivative of a quadratic form in x is twice its value.
function d = gradient_apart(x)
    d = abs(sum(grad(value, x).*x)/(2*value(x)) - 1)
end

for rows = [1, 2, 3, 7, 30]
    for width = [1, 15, 16, 17, 100, 511, 512, 530]
        x = reshape(mod((0..rows*width-1)*37, 101)/101, [rows, width])
        assert(apart(x, columns, 3, 0, (i, j) -> i+4) < 1e-4, "columns ", rows, "x", width)
        assert(apart(x, window, 2, 1, (i, j) -> i+0.5*j) < 1e-4, "window ", rows, "x", width)
        if rows*width > 1
            assert(gradient_apart(x) < 1e-4, "gradient ", rows, "x", width)
        end
    end
end
print "all the same"
