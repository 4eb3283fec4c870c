% options: --precision 64
% Derivatives of functions of windows and samples: along each dimension, in one row or column, at a border.
x = sin(1.7*(1..24)) + 0.01*(1..24)
m = reshape(x, [6,4])
c = reshape(x, [2,4,3])
for w = {2, 3, [0,3], [4,1], 9, 50}
    print gradcheck(u -> movmin(u, w).^2, x), gradcheck(u -> movmax(u, w, 0).^2, m), gradcheck(u -> movmin(u, w, 1).^2, m), _
          gradcheck(u -> movmax(u, w, 1).^2, c), gradcheck(u -> movmin(u, w, 0).^2, c), gradcheck(u -> movmax(u, w, 2).^2, c)
end
print gradcheck(u -> medfilt(u).^2, x), gradcheck(u -> medfilt(u, 2).^2, transpose(x)), gradcheck(u -> medfilt(u, 3).^2, m)
print gradcheck(u -> medfilt1(u, 5).^2, x), gradcheck(u -> imtophat(u, ones(3,2)).^2, m), gradcheck(u -> imbothat(u).^2, m)
print grad(u -> sum(movmin(u, 3)), [1,nan,2,0,0,3]), grad(u -> sum(medfilt(u)), [2,2,1,2])
u = 3*x
print grad(p -> sum(unwrap(p).*x), u) - x == 0*x, gradcheck(p -> unwrap(p).^2, u)
at = [0.3,1.6,2.2]
print gradcheck(v -> interp1(0..4, v, at), x[0..4]), gradcheck((v,t) -> interp1(0..4, v, t, "spline"), x[0..4], at), _
      gradcheck(t -> interp2(m, t, 0.7*t), at), gradcheck(z -> interp2(z, at, at), m)
[y, dy] = jvp(t -> interp2(m, t, 0.7*t), {at}, {[1,2,3]})
[v, pull] = vjp(t -> interp2(m, t, 0.7*t), at)
print abs(sum(dy) - sum(pull(ones(1,3)).*[1,2,3])) < 1e-12
print add_along([[1,2,3]], int32([[0,2,0]]), 1, 3), take_along([[1,2,3]], int32([[2,2,1,0]]), 1)
for k = [3,-1]
    try
        print add_along([[1,2,3]], int32([[0,k,0]]), 1, 3)
    catch e
        print e
    end
end
