% options: --loops always --explain
% Rows, columns and ranges of any length in loops: sums, updates, variables.
function f = bodies(p)
    n = size(p, 0)
    f = float64(zeros(n, size(p, 1)))
    for i = 0..n-1
        for j = 0..n-1
            d = p[j,:] - p[i,:]
            w = 1/((sum(d.*d) + 0.01)^2)
            f[i,:] = f[i,:] + w*d
        end
    end
end
p = float64(reshape(mod((0..14)*7, 11)/4, [5,3]))
print bodies(p)
q = float64(reshape(mod((0..199)*7, 11)/4, [5,40]))
b = bodies(q)
printf("%.15g %.15g\n", b[0,0], b[4,39])

function y = filtered(x, h)
    y = zeros(1, numel(x))
    for i = 0..numel(x)-1
        y[i] = sum(x[i..-1..0].*h[0..i])
    end
end
print filtered((0..40)/8, mod(0..40, 3))

function c = product(a, b)
    c = zeros(size(a, 0), size(b, 1))
    for i = 0..size(a,0)-1
        for j = 0..size(b,1)-1
            c[i,j] = sum(a[i,:].*transpose(b[:,j]))
        end
        for k = 0..size(a,1)-1
            c[i,:] += a[i,k]*b[k,:]
        end
    end
end
print sum(product(reshape(0..1199, [3,400])/64, reshape(0..1599, [400,4])/32))

% A variable holds a row; columns; maxima; nothing to add.
function [s, y] = mixture(x)
    [m, n] = size(x)
    y = zeros(m, n)
    s = zeros(1, m)
    for i = 0..m-1
        e = exp((x[i,:] - max(x[i,:]))/8)
        y[i,:] = e/sum(e)
        s[i] = mean(x[i,0..2..n-1]) + sum(x[i,0..i-1]) + numel(x[i,2..n-1]) + sum(abs(-x[:,i])) + norm(2*x[i,:])
        y[:,i] -= 0.5*y[:,i].^2
    end
end
[s, y] = mixture(reshape(mod(0..159, 7), [4,40]))
print s
printf("%.7g %.7g %.7g\n", sum(y), y[3,39], y[2,2])
