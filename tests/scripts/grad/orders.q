% options: --precision 64
% tolerance: 1e-5
% derivatives of derivatives, forward derivatives, complex numbers, integers: through kernels and loops
import "check.q"

function [] = __kernel__ cubes(x : vec, y : vec, pos : int)
    y[pos] = x[pos]^3*x[0]
end
function s = energy(x)
    y = zeros(size(x))
    parallel_do(numel(x), x, y, cubes)
    s = sum(y)
end
x = [1,2,3]
check("of a gradient", x -> sum(grad(energy, x).^2), x)
print "Hessian ", hessian(energy, x)
print "times a vector ", hvp(energy, x, [1,0,0])
[y, dy] = jvp(energy, {x}, {[1,1,1]})
print "forward ", y, " ", dy

function [] = __kernel__ blurred(x : mat'mirror, y : mat, pos : ivec2)
    y[pos] = x[pos]^2*x[pos+[0,1]] + x[pos-[1,0]]
end
function s = blur(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, blurred)
    s = sum(y.*weights(size(y)))
end
check("of the gradient of a stencil", x -> sum(grad(blur, x).^2), image(4,5))

function s = folded(x)
    s = 1
    for k = 0..numel(x)-1
        s = s*(1 + 0.3*x[k]^2)
    end
end
check("of the gradient of a loop", x -> sum(grad(folded, x).^2), wave(5))

function s = loop_jvp(x)
    [y, dy] = jvp(folded, {x}, {weights(size(x))})
    s = dy
end
g = grad(folded, wave(5))
printf("a loop forward: %.8g %.8g", loop_jvp(wave(5)), sum(g.*weights(size(g))))
[y, dy] = jvp(blur, {image(4,5)}, {image(4,5)})
g = grad(blur, image(4,5))
printf("a stencil forward: %.8g %.8g", dy, sum(g.*image(4,5)))

% perturbations of two levels are not confused
print grad(x -> x*grad(y -> x + y, 2), 3), " ", grad(x -> x*grad(y -> x*y, 2), 3)

% the convention of torch: re + i*im of the derivatives to both parts
function [] = __kernel__ products(z : cvec, w : scalar, y : vec, pos : int)
    y[pos] = w*real(z[pos]*z[pos]*conj(z[pos])) + imag(z[pos])
end
function s = complex_sum(z)
    y = zeros(2)
    parallel_do(2, z, 2, y, products)
    s = sum(y)
end
z = complex([1,2],[3,4])
print grad(complex_sum, z)
print grad(z -> sum(2*real(z.*z.*conj(z)) + imag(z)), z)

% integer arithmetic has no derivative; a float with an integral value has one
function [] = __kernel__ powers(x : vec, a : scalar, n : int, y : vec, pos : int)
    p = 1.0
    for k = 1..n
        p = p*a
    end
    y[pos] = p*x[pos] + floor(x[pos])*pos
end
function s = whole(a)
    y = zeros(3)
    parallel_do(3, [1,2,3], a, 3, y, powers)
    s = sum(y)
end
print grad(whole, 2)
print grad(a -> whole(a) + floor(a), 2.5)

% the tangents of an outer jvp are not confused with the tangents of an inner one
function s = slope(z)
    [v, s] = jvp(t -> t.*t.*t, z, z.*0 + 1)
end
[v, d] = jvp(slope, 2, 5)
print v, " ", d
[v, d] = jvp(slope, [1,2,3], [5,5,5])
print d
% levels that capture a variable of the outermost level
function s = captured(x)
    H = hessian(v -> sum(v.^3)*prod(v) + v[0]*x[1], x)
    s = sum(H.^2)
end
g = grad(captured, float64([1,1.2,0.7]))
printf("%.3f %.3f %.3f", g[0], g[1], g[2])
print grad(x -> grad(a -> grad(b -> grad(c -> a*b^2*c^3*sum(x), b), a), x[1]), float64([1,2,3]))

% a constant result has the tangent zero, in its shape
print hvp(x -> sum(2*x), [1,2,3], [1,2,3])
[v, d] = jvp(x -> [1,2,3], {2}, {1})
print d
% a checkpoint can itself be differentiated, in both modes
step = checkpoint(v -> sin(v.*v) + v[0])
f = v -> sum(step(v).^2)
plain = v -> sum((sin(v.*v) + v[0]).^2)
x = [0.3,0.5,-0.7]
[v, d] = jvp(step, {x}, {x})
print d
print max(abs(hessian(f, x) - hessian(plain, x))) < 1e-12, " ", max(abs(hvp(f, x, x) - hvp(plain, x, x))) < 1e-12
waves = checkpoint(z -> z.*exp(z))
f = x -> sum(abs(waves(complex(x, x.*x))).^2)
plain = x -> sum(abs(complex(x, x.*x).*exp(complex(x, x.*x))).^2)
print max(abs(hessian(f, x) - hessian(plain, x))) < 1e-12
