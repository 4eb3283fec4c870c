% options: --precision 64
% Arithmetic of numbers and small arrays has its own backward pass: it agrees with differences, with forward mode, with
% itself inside another derivative, and with the result for large arrays.
function y = terms(x, s)
    a = x.*s - x./(s + 3) + (2 - x).*x
    b = -a./(x.*x + 2) + 5./(x + 4) - s./x
    c = [s*a[0], b[1]/s, a[1] - s, 2 + s]
    y = sum(a.*b) + sum(c.*c)/s + c[2]*b[0]
end
x = float64([1.5,-0.7])
s = 1.3
print gradcheck(x -> terms(x, 1.3), x), gradcheck(s -> terms([1.5,-0.7], s), s)
print gradcheck(x -> sum(grad(x -> terms(x, 1.3), x).*[2,-3]), x)
print gradcheck(s -> grad(s -> terms([1.5,-0.7], s), s), s)
print gradcheck(s -> sum(grad(x -> terms(x, s), x)), s)
print gradcheck(x -> sum(hvp(x -> terms(x, 1.3), x, [1,2])), x)

% forward and reverse mode, first and second derivatives
v = float64([0.4,-1.1])
function e = apart(a, b)
    e = max(abs(a - b)) > 1e-9*(1 + max(abs(b)))
end
function d = tangent(f, x, v)
    [y, d] = jvp(f, x, v)
end
print apart([tangent(x -> terms(x, 1.3), x, v)], [sum(grad(x -> terms(x, 1.3), x).*v)])
print apart(hvp(x -> terms(x, 1.3), x, v), tangent(x -> grad(x -> terms(x, 1.3), x), x, v))
print apart(hessian(x -> terms(x, 1.3), x)*transpose(v), transpose(hvp(x -> terms(x, 1.3), x, v)))
print tangent(s -> s + [1,2], 3.0, 1.0), tangent(s -> (1 - s)*[1,2], 3.0, 1.0), tangent(s -> [s,2]./[s*s,s], 2.0, 1.0)

% the same for 2 and 66 elements, in both precisions; matrices
f = (x, s) -> sum((x.*s - 3./x + x./(2*s) - (1 - x).*x - s).^2)
many = repmat(x, [1,33])
print apart(repmat(grad(x -> f(x, 1.3), x), [1,33]), grad(x -> f(x, 1.3), many))
print abs(33*grad(s -> f(x, s), 1.3)/grad(s -> f(many, s), 1.3) - 1) < 1e-9
single = float32(x)
g = grad(x -> f(x, 1.3), single)
print type(g, "vec"), max(abs(g - grad(x -> f(x, 1.3), x))) < 1e-4
A = float64([[1,2],[3,5]])
print gradcheck(A -> sum((A*A - transpose(A)./A + 2*A).*A), A)
print size(grad(A -> sum(A./(A + 1)), A)), size(grad(A -> sum(A - A.*2), float64([[1],[2],[3]])))

% variables that are overwritten afterwards, mixed with integers and truth values
function y = overwritten(x)
    z = 1*x
    y = z.*x
    z[0] = 7
    y = y + z*int(2) + x*true - int(3)./z
    y = sum(y.*y)
end
print gradcheck(x -> overwritten(x), x)
