% Rows with mean 0 and variance 1.
function x = inputs()
    x = reshape(mod((0..499999)*7, 251)/32, [500,1000])
end
function y = with_expression(x)
    d = x - mean(x, 1)
    y = d./sqrt(mean(d.*d, 1) + 0.001)
end
function y = with_power(x)
    m = mean(x, 1)
    v = mean((x - m).^2, 1)
    y = (x - m)./sqrt(v + 0.001)
end
function y = with_for(x)
    [m, n] = size(x)
    y = zeros(m, n)
    for i = 0..m-1
        s = 0
        for j = 0..n-1
            s += x[i,j]
        end
        average = s/n
        s = 0
        for j = 0..n-1
            s += (x[i,j] - average)^2
        end
        scale = 1/sqrt(s/n + 0.001)
        for j = 0..n-1
            y[i,j] = (x[i,j] - average)*scale
        end
    end
end
function y = with_rows(x)
    y = zeros(size(x))
    for i = 0..size(x,0)-1
        d = x[i,:] - mean(x[i,:])
        y[i,:] = d/sqrt(mean(d.*d) + 0.001)
    end
end
