% options: --precision 64
% Jacobians and Hessians of cells and dynamic objects: their structure, with null for entries that are not floats.
J = jacobian(x -> [x[0]*x[1][0], x[1][1]^2], {3, [4,5], int(2)})
print J[0], " ", J[1], " ", isnull(J[2])
o = object()
o.a = 2
o.b = [1,2]
o.c = {4, "text"}
o.n = "x"
f = p -> p.a^2*sum(p.b) + p.c[0]*p.a*p.b[1]
h = hessian(f, o)
print h.a.a, " ", h.a.b, " ", h.a.c[0], " ", isnull(h.a.n), isnull(h.n), isnull(h.c[1])
print h.b.a, " ", h.b.b, " ", h.b.c[0], " ", h.c[0].a, " ", h.c[0].b, " ", h.c[0].c[0], " ", isnull(h.c[0].c[1])
print o.a, " ", o.c[0]
m = {[1,2],[3,4]}
print jacobian(x -> sum(x[0].*x[1])*x[1], m)
% nested in another derivative
print grad(s -> sum(jacobian(x -> s^2*x[0]*x[1], {2,[1,3]})[1]), 3)
% third derivatives, of a function of a cell
print jacobian(a -> hessian(x -> x[0]^2*x[1]*a, {2,5})[0][0], 3)
