% what a launch has no derivative of is an error with its place, and never a wrong value
function [] = attempt(name, f, x)
    try
        print name, ": ", grad(f, x)
    catch e
        print name, ": ", e
    end
end

function [] = __kernel__ square(x : vec, y : vec, pos : int)
    y[pos] = x[pos]^2
end
function s = one_array(x)
    y = copy(x)
    parallel_do(numel(x), y, y, square)
    s = sum(y)
end
attempt("two names", one_array, [1,2,3])

function [] = __kernel__ sized(x : vec, n : scalar, y : vec, pos : int)
    t = vec(n)
    t[0] = x[pos]*n
    y[pos] = t[0]
end
function s = sizes(n)
    y = zeros(2)
    parallel_do(2, [1,2], n, y, sized)
    s = sum(y)
end
attempt("a size", sizes, 3)
attempt("the same, told to be constant", n -> n*sizes(stop_gradient(n)), 3)

function [] = __kernel__ outside(x : vec'checked, y : vec, pos : int)
    y[pos] = x[pos+1]
end
function s = fails(x)
    y = zeros(3)
    parallel_do(3, x, y, outside)
    s = sum(y)
end
attempt("a fault", fails, [1,2,3])

function s = loop_fails(x)
    s = 0
    for k = 0..3
        s += x[k]^2
    end
end
attempt("an index", loop_fails, [1,2,3])

function r = listed(x)
    r = {x*x, x}
end
attempt("a list", x -> checkpoint(listed)(x)[0], 3)
try
    [y, pull] = vjp(listed, 3)
catch e
    print "vjp of a list: ", e
end
