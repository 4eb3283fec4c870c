% Functions that are made, composed and called
function n = inputs(size)
    n = size
end
function f = adder(k)
    f = x -> x + k
end
function y = closures(n)
    compose = (f, g) -> (x -> f(g(x)))
    y = 0
    for k = 1..n
        h = compose(adder(k), x -> 0.5*x)
        y = h(y)
    end
end
