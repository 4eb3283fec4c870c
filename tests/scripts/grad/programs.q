% Derivatives of typical program constructs; each is compared with differences (gradcheck) or with a known value.
% tolerance: 1e-5
% options: --precision 64
function y = power(x, n)
    y = n == 0 ? 1 : x*power(x, n-1)
end
print "recursion ", grad(x -> power(x, 5), 2)

k = 3
scale = a -> k*a
print "closures ", grad(x -> (f = u -> u*x; f(x) + scale(x)), 2)

function s = by_cell(x)
    list = {x, 2*x, {x.^2}}
    s = sum(list[0].*list[1]) + list[2][0][1]
end
print "cells ", grad(by_cell, [1,2])

type pair : mutable class
    a : scalar
    b : vec[float64]
end
function s = by_object(x)
    p = pair()
    p.b = x.*x
    p.a = x[0]
    p.a += p.b[1]
    s = p.a*sum(p.b)
end
print "objects ", grad(by_object, [1,2]), gradcheck(by_object, [1,2])

function s = overwritten(x)
    y = x.*x
    z = y.*x
    y[0] = 5*x[1]
    y += z
    y .*= 2
    s = sum(y.*z)
end
print "overwritten ", gradcheck(overwritten, [1,2,3])

function s = written_twice(x)
    y = zeros(2)
    y[0] = x[0]^2
    y[0] = 3*x[1]
    s = sum(y)
end
print "written twice ", grad(written_twice, [1,2])

function s = used_after(x, n)
    last = 0
    for i = 0..n-1
        last = x[i]*2
    end
    s = last^2
end
print "set before a loop, used after it ", grad(x -> used_after(x, 3), [1,2,3])

function s = nested(x, n, m)
    s = 0
    for i = 0..n-1
        t = x[i]
        for j = 0..m-1
            t *= x[j]
        end
        s += t
        for j = i..m-1
            s += t*x[j]
        end
    end
end
print "nested loops with statements between ", gradcheck(x -> nested(x, 3, 2), [1,2,3])

function s = largest(x)
    best = -inf
    s = 0
    for i = 0..numel(x)-1
        if x[i] < 0
            continue
        end
        if x[i] > best
            best = x[i]
            s = best^2 + i*best
        end
        if i == 3
            break
        end
    end
end
print "continue and break ", grad(largest, [1,-5,4,2,9]), gradcheck(largest, [1,-5,4,2,9])

function y = root(a)
    y = a
    while abs(y*y - a) > 1e-12
        y = (y + a/y)/2
    end
end
print "to convergence ", grad(root, 2) - 1/(2*sqrt(2)) < 1e-9, " ", hessian(root, 2)

function s = turns(x, n)
    s = x
    for i = 1..n
        s = s + 0.001*sin(s)
    end
end
print "500 turns ", gradcheck(x -> turns(x, 500), 0.5), " 10 000 turns ", gradcheck(x -> turns(x, 10000), 0.5)

print "gather of a gather ", grad(x -> (i = [2,0,1,2]; y = x[i]; sum(y[[0,0,3]].^2)), [1,2,3])

% Derivatives inside derivatives: the levels do not interfere.
print "not confused ", grad(x -> x*grad(y -> x + y, 1), 1), " ", grad(x -> x*grad(y -> x*y*y, 2), 3)
print "third ", grad(z -> grad(y -> grad(x -> x^4*z, y), z), 2)
d = z -> (j = jvp(x -> x^3*z, z, 1); j)
function r = along_one(z)
    [y, r] = jvp(x -> x^3*z, z, 1)
end
print "forward in reverse ", grad(along_one, 2), " ", jacobian(x -> grad(u -> sum(u.^3), x), [1,2])

print "complex ", grad(z -> abs(z*z), 3+4j), " ", grad(z -> real(exp(1j*z)), 0.5)
print "conditions ", grad(x -> (x > 0 && x < 3 ? x^2 : -x), 2), " ", grad(x -> sum(x > 1 ? x.^2 : 3*x), [1,2])
print "integers ", grad(x -> sum(x.*floor(x)) + sum(int(x)), [1.5,2.5])
print "float32 ", type(grad(x -> sum(x.*float64([1,2])), float32([1,2])))

% Programs without a correct derivative are errors with a line.
function s = through_a_view(x)
    y = 2*x
    z = reshape(y, [2,1])
    z[0] = 7
    s = sum(y)
end
function s = into_the_argument(x)
    x[0] = 1
    s = sum(x)
end
function s = from_here(x)
    s = 0
    for i = x..5
        s += i
    end
end
captured = checkpoint(u -> u*k)
for f = {through_a_view, into_the_argument}
    try
        print grad(f, [1,2])
    catch e
        print e.line, ": ", e
    end
end
try
    print grad(from_here, 2)
catch e
    print e.line, ": ", e
end
try
    print grad(x -> (g = checkpoint(u -> u*x); g(x)), 2)
catch e
    print e.line, ": ", e
end
x = [1,2]
g = grad(v -> sum(v.^2), x)
g[0] = 100
print x, " ", g

% a rule gets all results of its function, and their adjoints, even if the caller takes fewer
{!adjoint pair_rule}
function [y, n] = pair(x)
    y = x^2
    n = 7
end
function dx = pair_rule(x, y, n = 0, dy = 1, dn = 0)
    dx = 2*x*dy + n*dn
end
function s = both(x)
    [y, n] = pair(x)
    s = y + n
end
print "one of two ", grad(x -> 10*pair(x), 3), " ", jvp(x -> 10*pair(x), 3, 1), " ", hessian(x -> 10*pair(x), 3)
print "both ", grad(both, 3)

% a type that is called with elements, or with sizes, which have no derivative
print "elements ", gradcheck(x -> sum(vec2(x, 2*x).^2) + vec3(x, x^2, 1)[1], 3), " ", hessian(x -> sum(vec2(x[0]*x[1], x[0]^3)), [2,3])
[y, dy] = jvp(x -> vec2(x, x^3), 2, 1)
print "forward ", y, " ", dy, " ", grad(x -> real(cscalar(x, 2*x)) + imag(cscalar(1, 2*x)), 3)
print "sizes ", grad(x -> sum(vec(x) + x), 3), " ", grad(v -> sum(v) + sum(mat(v)), [2,3])

% changes that the function makes to cells and objects of its argument do not affect the structure of the gradient
p = object()
p.a = 1.5
p.b = [1,2]
function s = growing(q, keep)
    s = q.a^2 + sum(q.b.^2)
    for k = 1..100
        setfield(keep, sprintf("n%d", k), [1.0,2.0]*k)
    end
end
print "grown ", grad(q -> growing(q, p), p), " ", numel(fieldnames(p))
c = {1.5, "text", [1,2]}
function s = replacing(q, keep)
    s = q[0]^2 + sum(q[2].^2)
    keep[1] = 3.5
    q[2] = "gone"
end
print "replaced ", grad(q -> replacing(q, c), c), " ", c

% the library gives no warning about its own code
print "counted ", grad(x -> sum(bincount([0,1,1],3,x).^2), float64([1,4,2]))

% items of a vec as arguments
print grad(v -> apply((x, y) -> x*y^2, v), [1,3]), gradcheck(v -> apply(atan2, sin(v)), [0.3,0.8])

% a float64 computation has a float64 derivative, whatever other types are involved
tenth = float64([0.1])
print grad(p -> sum(polyval(p, [0.1])), float64([1,2,3]))[0] == sum(float64([0.1]).^2)

% gradcheck reports functions that cannot be compared with differences
for f = {x -> sum(x.*rand(3)), x -> cast_like(x.^2, float32([0.1]))}
    try
        print gradcheck(f, float64([1.1,2,3]))
    catch e
        print substr(e, strfind(e, ";"), 200)
    end
end
