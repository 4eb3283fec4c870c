% options: --precision 64 --loops always
% tolerance: 1e-5
% gradients of loops of the program, as machine code
import "check.q"

function s = added(x)
    s = 0
    for k = 0..numel(x)-1
        s += (k+1)*x[k]^2
    end
end
check("a sum", added, wave(9))

function y = each(x)
    y = zeros(size(x))
    for k = 0..numel(x)-1
        y[k] = sin(x[k])*x[k]
    end
end
check("turns side by side", x -> sum(each(x).*weights(size(x))), wave(9))

function s = carried(x)
    y = zeros(size(x))
    y[0] = x[0]
    p = 1
    for k = 1..numel(x)-1
        y[k] = 0.5*y[k-1]*x[k] + x[k-1]
        p = p*(1 + 0.1*y[k])
    end
    s = p + sum(y)
end
check("iterations in order", carried, wave(8))

function s = product(x)
    s = 1
    for k = 0..numel(x)-1
        s = s*(x[k] + 2)
    end
end
check("a product", product, wave(8))

function s = largest(x)
    s = -1e9
    for k = 0..numel(x)-1
        if x[k]*x[k] > s
            s = x[k]*x[k]
        end
    end
end
check("a maximum", largest, wave(8))

function s = converged(a)
    r = sum(a)
    while abs(r*r - a[0] - 3) > 1e-12
        r = 0.5*(r + (a[0] + 3)/r)
    end
    s = r*a[1]
end
check("while", converged, [2.5,1.25])

function s = smooth(x)
    y = zeros(size(x))
    for m = 1..size(x,0)-2
        for n = 1..size(x,1)-2
            y[m,n] = x[m-1,n] + x[m+1,n] + x[m,n-1]*x[m,n+1] - 4*x[m,n]
        end
    end
    s = sum(y.^2)
end
check("a stencil", smooth, image(6,7))

function s = many(x, n)
    p = x[0]
    for k = 1..n
        p = 2.4*p*(1 - p) + 0.01*x[1]
    end
    s = 100*p
end
check("500 turns", x -> many(x, 500), [0.4,0.3])
check("10000 turns", x -> many(x, 10000), [0.4,0.3])

function s = histogram(x)
    h = zeros(4)
    for k = 0..numel(x)-1
        h[mod(k,4)] += x[k]^2
    end
    s = sum(h.*h)
end
check("a histogram", histogram, wave(10))

function y = numbers(x)
    u = x*x
    for k = 1..3
        u = u*x + k
    end
    y = u
end
x = 1.2
printf("a loop over numbers: %.8g %.8g", grad(numbers, x), (numbers(x+1e-6) - numbers(x-1e-6))/2e-6)
