% User-defined rules get the arguments of their function, including defaults and rest arguments.
{!adjoint power_rule}
function y = power(x, n = 3, s : int = 1)
    print n, " ", s
    y = s*sum(x.^n)
end
function dx = power_rule(x, n, s, y, dy)
    dx = 1000*s*n*dy*x
end
print grad(x -> power(x), [1,2])
print grad(x -> power(x, s := 2), [1,2])
print grad(power, [1,2], 4)

% a default that depends on the variable
{!adjoint scaled_rule}
function y = scaled(x, a = 2*x[0], b : int = 3)
    y = sum(x)*a + b
end
function [dx, da] = scaled_rule(x, a, b, y, dy)
    dx = a*dy*ones(size(x))
    da = sum(x)*dy
end
print grad(x -> scaled(x), [1,2]), hessian(x -> scaled(x)^2, [1,2])

{!adjoint product_rule}
function y = product(x, ...rest)
    y = x*rest[0]*rest[1]
end
function dx = product_rule(x, rest, y, dy)
    dx = 100*rest[0]*rest[1]*dy
end
print grad(x -> product(x, 2, 3), 5)

% a rule gives no adjoint for a cell or object whose contents depend on the variable
{!adjoint parts_rule}
function y = parts(c)
    y = c[0]*c[1]
end
function dc = parts_rule(c, y, dy)
    dc = {100,200}
end
{!adjoint field_rule}
function y = field(x, o)
    y = x*o.inner.a
end
function dx = field_rule(x, o, y, dy)
    dx = 10*o.inner.a*dy
end
function o = holder(a)
    o = object()
    o.inner = object()
    o.inner.a = a
end
function [] = attempt(what, f, x)
    try
        print what, ": ", grad(f, x)
    catch e
        print what, ": ", e
    end
end
attempt("a cell", parts, {2,3})
attempt("a cell made within", x -> parts({x,3}), 2)
attempt("an object", x -> field(x, holder(x)), 2)
attempt("constant ones", x -> x*parts({2,3}) + field(x, holder(3)), 2)

% real arguments have real adjoints
{!adjoint turned_rule}
function y = turned(x)
    y = sum(x.^2)
end
function dx = turned_rule(x, y, dy)
    dx = [1,2]*1j*dy
end
attempt("a complex adjoint", turned, [1,2])

function [dx, more] = doubled_rule(x, y, dy)
    dx = 2*dy
    more = 0
end
{!adjoint doubled_rule}
function y = doubled(x)
    y = 2*sum(x)
end
attempt("an adjoint too many", doubled, [1,2])
[y, pull] = vjp(x -> x.^2, [1,2])
attempt("a complex adjoint for a pullback", v -> sum(pull(1j*[1,2])), [1,2])
