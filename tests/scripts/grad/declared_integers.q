% Arguments that a function declares as integers or truth values have no derivative.
function y = power(x : vec, n : int)
    y = sum(x.^n)
end
function y = picked(x : vec, at : vec[int])
    y = sum(x[at])
end
function y = switched(x : vec, on : bool)
    y = on ? sum(x) : 0
end
function y = scaled(x : vec, k : scalar)
    y = sum(x)*k
end
function [] = tell(f)
    try
        f()
        print "no error"
    catch e
        print e
    end
end
function y = of_n(n : int)
    y = n*n
end
x = [1,2,3]
tell(() -> grad(of_n, 3))
tell(() -> jacobian(of_n, 3))
tell(() -> hessian(of_n, 3))
tell(() -> hvp(of_n, 3, 1))
tell(() -> jvp(power, {x, 2}, {x, 1}))
tell(() -> jvp(switched, {x, 1}, {x, 1}))
try
    [dx, dn] = grad(power, x, 2)
catch e
    print e
end
try
    [dx, dat] = grad(picked, x, [0,1])
catch e
    print e
end
try
    [y, dn] = value_and_grad(of_n, 3)
catch e
    print e
end
% other arguments have one, and may appear beside integer arguments
print grad(power, x, 2), grad(picked, x, [0,0]), grad(switched, x, true)
[dx, dk] = grad(scaled, x, 2)
print dx, dk
[y, dy] = jvp(power, {x, 2}, {x, 0})
print y, " ", dy
[y, pull] = vjp(power, x, 2)
[dx, dn] = pull(1)
print dx, isnull(dn)
% a function may convert a number inside, for example by int(x)
print grad(x -> x + of_n(x), 3), " ", grad(n -> n*n, 3)

% A result that is the argument itself is an ordinary array.
[y, pull] = vjp(v -> v, [1,2,3])
y[0] = 5
print y, pull([1,1,1])
[y, dy] = jvp(v -> v, [1,2,3], [1,1,1])
y[0] = 5
print y
same = checkpoint(v -> v)
print grad(v -> sum(same(v).^2), [1,2,3])
{!adjoint twice_back}
function [a, b] = twice(v)
    a = v
    b = v
end
function dv = twice_back(v, a, b, da, db)
    dv = da + 3*db
end
function s = uses_both(v)
    [a, b] = twice(v)
    s = sum(a.*a) + 5*sum(b)
end
print grad(uses_both, [1,2,3])
