% options: --loops always
% tolerance: 1e-5
% Derivatives through rows; all elements that are the maximum share its derivative.
function s = f(x)
    [m, n] = size(x)
    y = zeros(m, n)
    s = 0
    for i = 0..m-1
        d = x[i,:] - mean(x[i,:])
        y[i,:] = d/sqrt(mean(d.*d) + 0.1)
        s += sum(y[i,:].*x[0,:]) + sum(x[i,0..2..n-1])*0.5
    end
    for i = 0..m-1
        s += sum(y[i,:].^3)
    end
end
function s = largest(x)
    s = 0
    for i = 0..size(x,0)-1
        s += i*max(x[i,:].^2)
    end
end
x = reshape(mod((0..119)*7, 11)/4, [3,40])
g = grad(f, x)
print sum(g.^2), " ", g[1,3], " ", g[0,39], " ", g[2,0]
g = grad(largest, x)
print sum(g.^2), " ", g[1,:]
