% Positions outside have no derivative; at nan it is nan.
x = mod(reshape(0..99,[10,10])*0.37,1)
f = (x, xi, yi) -> sum(interp2(x, xi, yi))
for p in {[1.5,2.5],[nan,2],[3.2,nan],[inf,1],[-inf,1],[-5,3],[1e30,2],[9,9],[9.5,2],[0,0]}
    [dx, dxi, dyi] = grad(f, x, [p[0]], [p[1]])
    printf("%g %g: %.5g, %.4g %.4g %.4g", p[0], p[1], f(x, [p[0]], [p[1]]), sum(dx), dxi[0], dyi[0])
end
