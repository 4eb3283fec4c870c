% Derivatives in scripts: each function once, with results that can be checked by hand.
% tolerance: 1e-5
print grad(x -> x^2, 3), " ", grad(x -> sum(x.*x), [1,2,3])
[dx, dy] = grad((x, y) -> sum(x.*y)/y[0], [1,2,3], [4,5,6])
print dx, dy
[v, g] = value_and_grad(x -> prod(x), [2,0,3])
print v, " ", g
[y, pull] = vjp((a, b) -> a*b, [[1,2],[3,4]], [[1,0],[1,1]])
[da, db] = pull([[1,0],[0,1]])
print y, da, db
[y, dy] = jvp((a, b) -> a.*b, {[1,2], [3,4]}, {[1,0], [0,1]})
print y, dy
print jacobian(x -> [x[0]*x[1], x[1]^2], [3,4])
print size(jacobian(x -> x*2, zeros(2,3))), " ", jacobian(x -> [x, x^2], 3), " ", jacobian(x -> x^2, 3)
print hessian(x -> sum(x.^3), [1,2])
print hvp(x -> sum(x.^3)*x[0], [1,2], [0,1])
print grad(x -> sum(stop_gradient(x).*x), [1,2])
halved = checkpoint(x -> exp(x/2))
print grad(x -> sum(halved(x.*x)), [0,1])
print gradcheck((x, y) -> sin(x).*y, [0.1,0.2], 3)
x = [1,2,3]
print $diff(sum(x.^2), x), " ", $diff(x.^2, x)
t = 2
print $diff(t^3, t), " ", $diff([t,t^2], t)
power = (a, n) -> a.^n
print $diffmul(power(x, 2), x, [1,0,1])

function [v] = wrong(f, what)
    v = 0
    try
        v = f()
    catch e
        print what, ": ", e
    end
end
z = wrong(() -> $diff(x*sum(x), x), "not element by element")
z = wrong(() -> grad(x -> x.*2, x), "several results")
z = wrong(() -> grad(x -> x, "text"), "a string")
z = wrong(() -> grad(v -> mode(v), x), "mode")
z = wrong(() -> gradcheck(v -> sum(floor(v)).*0 + sum(stop_gradient(v)), x), "a lie")
z = wrong(() -> grad(b -> quantile(x, b), 0.5), "a level of quantiles")
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
x = int(3)
attempt(() -> $diff(x^2, x))
y = int([3,4])
attempt(() -> $diff(sum(y.^2), y))
b = true
attempt(() -> $diff(b^2, b))
c = {1.5,[2,3]}
attempt(() -> $diff(c[0]*sum(c[1]), c))
o = object()
o.a = 2.0
attempt(() -> $diff(o.a^2, o))
z = 3
attempt(() -> $diff(z^2, z))
