% options: --loops always
a = 3
scale = (x) -> x*a + 1
function y = twice(f, x)
    y = f(f(x))
end
x = zeros(4)
for i=0..3
    x[i] = scale(i) + twice(scale, i) + twice((q) -> q - i*a, 1)
end
print x
a = 100 % a lambda has what was there when it was made
for i=0..3
    x[i] = scale(i)
end
print x
function y = blur(n, w)
    function z = weight(d)
        z = exp(-d^2/w)
        if d > 1
            return
        end
        z += 1
    end
    y = zeros(n)
    for i=0..n-1
        for k=-2..2
            y[i] += weight(abs(k))*i
        end
        w = w + 1 % which the next mention of the function sees
    end
end
print blur(3, 2)
function z = larger[T](p : T, q : T)
    z = p > q ? p : q
end
for i=0..3
    x[i] = larger(i, 1.5) + larger(int(i), int(2))
end
print x
