% The softmax of each row.
function x = inputs()
    x = reshape(mod(0..499999, 251)/32, [500,1000])
end
function y = with_expression(x)
    e = exp(x - max(x, [], 1))
    y = e./sum(e, 1)
end
function y = with_for(x)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 0..m-1
        top = x[i,0]
        for j = 1..n-1
            top = max(top, x[i,j])
        end
        s = 0
        for j = 0..n-1
            y[i,j] = exp(x[i,j] - top)
            s += y[i,j]
        end
        for j = 0..n-1
            y[i,j] /= s
        end
    end
end
function y = with_rows(x)
    y = zeros(size(x))
    for i = 0..size(x,0)-1
        e = exp(x[i,:] - max(x[i,:]))
        y[i,:] = e/sum(e)
    end
end
function [] = __kernel__ row_of_softmax(x : mat, y : mat, pos : int)
    n = size(x, 1)
    top = x[pos,0]
    for j = 1..n-1
        top = max(top, x[pos,j])
    end
    s = 0.0
    for j = 0..n-1
        e = exp(x[pos,j] - top)
        y[pos,j] = e
        s += e
    end
    for j = 0..n-1
        y[pos,j] /= s
    end
end
function y = with_kernel(x)
    y = zeros(size(x))
    parallel_do(size(x,0), x, y, row_of_softmax)
end
