% Columns with mean 0 and deviation 1.
function x = inputs()
    x = reshape(mod((0..499999)*7, 251)/32, [1000,500])
end
function y = with_expression(x)
    d = x - mean(x, 0)
    y = d./sqrt(mean(d.*d, 0))
end
function y = with_std(x)
    y = (x - mean(x, 0))./std(x, 0)*sqrt(1000/999)
end
function y = with_for(x)
    [m, n] = size(x)
    y = zeros(m, n)
    for j = 0..n-1
        s = 0
        q = 0
        for i = 0..m-1
            s += x[i,j]
        end
        s = s/m
        for i = 0..m-1
            q += (x[i,j] - s)^2
        end
        q = sqrt(q/m)
        for i = 0..m-1
            y[i,j] = (x[i,j] - s)/q
        end
    end
end
function y = with_columns(x)
    y = zeros(size(x))
    for j = 0..size(x,1)-1
        d = x[:,j] - mean(x[:,j])
        y[:,j] = d/sqrt(mean(d.*d))
    end
end
