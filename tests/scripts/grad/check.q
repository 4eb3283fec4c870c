% part
% Gradients against central differences; a program runs with --precision 64.
function d = differences(f, x : mat)
    d = zeros(size(x))
    for m = 0..size(x,0)-1
        for n = 0..size(x,1)-1
            h = 1e-6*max(1, abs(x[m,n]))
            a = copy(x)
            b = copy(x)
            a[m,n] += h
            b[m,n] -= h
            d[m,n] = (f(a) - f(b))/(2*h)
        end
    end
end

% The name, the sum of the gradient's elements, and whether it is that of differences.
function [] = check(name, f, x)
    g = grad(f, x)
    d = differences(f, x)
    worst = max(abs(g - d))/max(1e-3, max(abs(d)))
    printf("%s: %.6g %s", name, sum(g.*weights(size(g))), worst < 1e-6 ? "right" : sprintf("OFF BY %g", worst))
end

function w = weights(sz)
    w = reshape(1 + mod(1.0*(0..prod(sz)-1), 7), sz)
end

function x = wave(n)
    x = 0.3 + sin(1.7*(0..n-1))
end

function x = image(m, n)
    x = reshape(wave(m*n), [m,n])
end
