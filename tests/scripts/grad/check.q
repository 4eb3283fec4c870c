% part
% Compares gradients with central differences; a program runs with --precision 64.
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

% Prints the name, the sum of the gradient's elements, and whether the gradient agrees with differences.
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

function d = along(f, x, v)
    d = (f(x + 1e-6*v) - f(x - 1e-6*v))/2e-6
end

% The same for hvp, and jvp must equal the product with the gradient; x has one dimension.
function [] = twice(name, f, x)
    v = 0.5 + cos(0..numel(x)-1)
    h = hvp(f, x, v)
    d = along(z -> grad(f, z), x, v)
    [y, dy] = jvp(f, x, v)
    worst = max(max(abs(h - d))/max(1e-3, max(abs(d))), abs(dy - sum(grad(f, x).*v))/max(1e-3, abs(dy)))
    printf("%s: %.6g %s", name, sum(h), worst < 1e-6 ? "right" : sprintf("OFF BY %g", worst))
end
