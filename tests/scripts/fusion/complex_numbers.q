% Expressions of complex arrays are one kernel, too: each form is compared with the result computed without a kernel.
function [] = same(name, a, b)
    d = max(max(abs(real(a) - real(b))), max(abs(imag(a) - imag(b))))
    if d > 1e-5*(1 + max(abs(b))) print name, " differs by ", d end
end
m = 300
n = 400                                         % enough to be compiled at the second turn
u = repmat(linspace(-2,2,n), [m,1])
v = transpose(repmat(linspace(-1,3,m), [n,1]))
x = complex(u, v)
y = complex(v+4, u)
w = 2-3j
for k = 0..40
    z = x.*y + w*u - 1j*2*v
    q = (x - w)./(y + 1)
    p = (x + 1).^3 + y.^-1
    e = exp(1j*pi*u) + exp(x)
    c = complex(u*2, v) + conj(y)
    s = sum(abs(x) + angle(y))
    t = x[:,1..n-1] + y[:,0..n-2]
    b = (x == x) + (x != y)
end
xu = u
xv = v
same("product", z, complex(xu.*(v+4) - xv.*u + 2*u, xu.*u + xv.*(v+4) - 3*u - 2*v))
same("quotient", q.*(y + 1), x - w)
same("power", p, (x + 1).*(x + 1).*(x + 1) + 1./y)
same("exponential", e, complex(cos(pi*u) + exp(u).*cos(v), sin(pi*u) + exp(u).*sin(v)))
same("parts", c, complex(2*u + v + 4, v - u))
print abs(s/(sum(sqrt(u.*u + v.*v)) + sum(atan2(u, v+4))) - 1) < 1e-6
same("slices", t, complex(u[:,1..n-1] + v[:,0..n-2] + 4, v[:,1..n-1] + u[:,0..n-2]))
print sum(b) == 2*m*n
print complex(1, 1/0), complex([1, -0.0], -0.0)

% exp at its extremes: for single elements and within an expression
ends = complex(repmat([-1/0, -1/0, 1/0, 1/0, 720, -720, 0], [1,m*n/50]),
               repmat([1/0, 0, 1/0, 0, 1.5707963, 2, -0.0], [1,m*n/50]))
for k = 0..40
    e = exp(ends) + 0
end
print e[0..6]
