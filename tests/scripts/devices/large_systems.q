% Systems large enough for a library of the device, if there is one: the properties hold on every device.
% needs: lapack
n = 256
g = randn(n,n)
a = g + 40.*eye(n)
p = g*transpose(g) + 256.*eye(n)
b = randn(n,9)
z = complex(a, g)
h = z*herm_transpose(z)
near = (x, y, tolerance) -> type(x) == type(y) && max(abs(x - y)) <= tolerance*max(abs(y))
f = float64(a)
w = complex(f, float64(g))
print near(a*solve(a, b), b, 1e-3), near(f*solve(f, float64(b)), float64(b), 1e-11)
print near(z*solve(z, complex(b, 1 - b)), complex(b, 1 - b), 1e-3)
print near(w*solve(w, complex(float64(b), 1)), complex(float64(b), 1), 1e-11)
print near(solve(transpose(a), b), inv(transpose(a))*b, 1e-3), near(solve(f, f[:,0..0]), float64(eye(n))[:,0..0], 1e-11)
print near(a*inv(a), eye(n), 1e-3), near(f*inv(f), float64(eye(n)), 1e-11)
print near(inv(z)*z, complex(eye(n), 0), 1e-3), near(inv(w)*w, complex(float64(eye(n)), 0), 1e-11)
r = chol(p)
q = chol(float64(p))
c = chol(h)
print near(transpose(r)*r, p, 1e-4), r[n-1,0], near(transpose(q)*q, float64(p), 1e-12), q[7,6]
print near(herm_transpose(c)*c, h, 1e-4), abs(c[9,2]), abs(imag(c[9,9]))
p[6,6] = -1
[s, info] = chol_ex(p)
print info, sum(abs(s))
a[:,12] = 0
for t = {() -> inv(a), () -> solve(a, b), () -> chol(p)}
    try
        t()
    catch e
        print e
    end
end
