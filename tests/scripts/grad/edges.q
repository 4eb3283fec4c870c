% tolerance: 1e-9
% Derivatives at edge cases: first derivatives, and second derivatives in forward and reverse mode.
function [] = show(name, f, x)
    g = y -> sum(grad(z -> sum(f(z)), y))
    print name, ": ", grad(z -> sum(f(z)), x), hvp(z -> sum(f(z)), x, ones_like(x)), grad(g, x)
end
x = float64([0,1,-1])
show("sign", sign, x)
show("power 0", z -> z.^0, x)
show("power 1", z -> z.^1, x)
show("powers 0, 1, 2", z -> z.^float64([0,1,2]), x)
show("floor", floor, x)
show("nextpow2", nextpow2, x)
show("abs", abs, x)
show("norm", norm, 0*x)
print hessian(v -> v[0]^v[1], float64([0,2])), grad(v -> v[0]^v[1], float64([0,0]))
print abs(grad(atan2, 1e-200, 1e-200)*2e-200 - 1) < 1e-14, " ", grad(v -> atan2(v[0], v[1]), float64([0,0]))
show("clamp", z -> clamp(z, -1, 1), x)
show("saturate", saturate, x)
show("max", z -> max(z, 0), x)
function [] = __kernel__ signs(x : vec[float64], y : vec[float64], pos : int)
    y[pos] = sign(x[pos]) + x[pos]^1
end
function s = by_kernel(x)
    y = zeros_like(x)
    parallel_do(numel(x), x, y, signs)
    s = sum(y)
end
print grad(by_kernel, x), grad(z -> sign(z)*2 + z, 0)
% near a pole of lgamma: psi(-1e-7) is 1e7 - 0.577…
print grad(z -> lgamma(z), -1e-7) - 1e7, " ", grad(z -> lgamma(z), -2 - 2^-30) - 2^30
