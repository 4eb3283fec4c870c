% options: --precision 64 --loops always
% tolerance: 1e-5
% Adjoints that only one backward kernel reads are computed in that kernel, beside adjoints that are not.
import "check.q"

function [] = __kernel__ line(x : vec, y : vec, z : vec, a : scalar, pos : int)
    z[pos] = a*x[pos]*x[pos] + y[pos]
end
function [] = __kernel__ both(x : vec, y : vec, z : vec, pos : int)
    y[pos] = sin(x[pos])
    z[pos] = x[pos]^3
end
function [] = __kernel__ point(x : mat, y : mat, pos : ivec2)
    y[pos] = x[pos]*sin(x[pos])
end
function [] = __kernel__ turned(x : mat, y : mat, pos : ivec2)
    y[pos] = x[pos[1],pos[0]]*x[pos[1],pos[0]]
end
function [] = __kernel__ around(x : mat'circular, y : mat, pos : ivec2)
    y[pos] = x[pos]*x[pos+[0,1]]
end
function [] = __kernel__ part(x : vec, y : vec, pos : int)
    y[2*pos] = x[pos]*x[pos]
end
function [] = __kernel__ within(x : vec'safe, y : vec'safe, pos : int)
    y[pos] = x[pos]*x[pos]
end
function [] = __kernel__ more(x : vec, y : vec, pos : int)
    y[pos] += x[pos]*x[pos]
end
function [] = __kernel__ chosen(x : vec, y : vec, pos : int)
    if pos > 2
        y[pos] = x[pos]*x[pos]
    end
end
function [] = __kernel__ spread(x : vec, y : mat, pos : ivec2)
    y[pos] = x[pos[1]]*(1 + pos[0])
end
function [] = __kernel__ gathered(x : vec'safe, y : vec, pos : int)
    y[pos] = 0
    for k = 0..2
        y[pos] += x[pos+k]*x[pos]*(k+1)
    end
end

function z = lines(x)
    z = uninit(size(x))
    parallel_do(numel(x), x, wave(numel(x)), z, 0.7, line)
end
function y = launched(x, kernel)
    y = uninit(size(x))
    parallel_do(size(x), x, y, kernel)
end
function y = filled(x, n, kernel)
    y = ones(n)
    parallel_do(numel(x), x, y, kernel)
end
function s = squares(z)
    s = sum(z.*z)
end

check("squares", x -> squares(lines(x)), wave(9))
check("a mean", x -> mean(exp(lines(x))), wave(9))
check("a sum", x -> sum(lines(x)), wave(9))
check("two launches", x -> sum(lines(x).*lines(sin(x))), wave(9))
check("a chain of launches", x -> squares(lines(lines(lines(x)))), wave(9))
check("of expressions", x -> squares(sin(lines(exp(lines(x))))), wave(9))
function s = two_readers(x)
    z = lines(x)
    s = squares(z) + sum(z.^3)
end
check("two readers", two_readers, wave(9))
check("the variable beside it", x -> sum((lines(x) - x).^2), wave(9))
check("the variable before it", x -> squares(x) + squares(lines(x)), wave(9))
check("the variable after it", x -> squares(lines(x)) + squares(x) + sum(lines(x).*x), wave(9))
function s = two_results(x)
    y = uninit(size(x))
    z = uninit(size(x))
    parallel_do(numel(x), x, y, z, both)
    s = sum(y.*z)
end
check("two results", two_results, wave(9))
check("matrices", x -> squares(launched(x, point)), image(3,4))
check("launches over matrices", x -> squares(launched(launched(x, point), point)), image(3,4))
check("turned", x -> squares(launched(launched(x, point), turned)), image(3,3))
check("turned, then a point", x -> squares(launched(launched(x, turned), point)), image(3,3))
check("read around", x -> squares(launched(launched(x, point), around)), image(3,4))
check("a part of the elements", x -> squares(filled(x, 9, part)), wave(4))
check("more positions than elements", x -> squares(filled(x, 5, within)), wave(9))
check("fewer positions than elements", x -> squares(filled(x, 9, within)), wave(5))
check("added", x -> squares(filled(x, 9, more)), wave(9))
check("chosen", x -> squares(filled(x, 9, chosen)), wave(9))
function s = onto(x, kernel)
    y = sin(x)
    parallel_do(numel(x), x, y, kernel)
    s = squares(y)
end
check("added to what depends on it", x -> onto(x, more), wave(9))
check("chosen, over what depends on it", x -> onto(x, chosen), wave(9))
function s = spreads(x)
    y = uninit(3, numel(x))
    parallel_do(size(y), x, y, spread)
    s = squares(y)
end
check("read by several positions", x -> spreads(lines(x)), wave(4))
check("read in a loop", x -> squares(launched(lines(x), gathered)), wave(7))
check("a row that is stretched", x -> sum((launched(x, point).*image(4,3)).^2), image(1,3))
function s = overwritten(x)
    z = lines(x)
    s = squares(z)
    z[2] = x[1]
    z += 1
    s += sum(z.*x)
end
check("overwritten later", overwritten, wave(9))

check("one number for all", x -> sum(launched(x, point)), image(3,4))
check("one number, read around", x -> 2*mean(launched(x, around)), image(3,4))
check("one number, added", x -> sum(filled(x, 9, more)), wave(9))
check("one number, over what depends on it", x -> sum(sin(x) + launched(x, within)), wave(9))
check("one number, of expressions", x -> sum(sin(lines(exp(x)))), wave(9))
check("one number, where it is joined", x -> sum(launched(launched(x, point), turned)), image(3,3))
function s = number_first(x)
    z = lines(x)
    s = sum(z.*x) + sum(z)
end
function s = number_last(x)
    z = lines(x)
    s = sum(z) + sum(z.*x)
end
function s = two_numbers(x)
    z = lines(x)
    s = sum(z) + 3*mean(z)
end
check("one number, then more", number_first, wave(9))
check("one number after others", number_last, wave(9))
check("two numbers", two_numbers, wave(9))
function [] = __kernel__ square(x : cvec, y : cvec, pos : int)
    y[pos] = x[pos]*x[pos]
end
function s = complex_sum(x)
    z = complex(x, 2*x)
    y = z*0
    parallel_do(numel(x), z, y, square)
    s = real(sum(y)) + imag(sum(y))
end
check("one complex number", complex_sum, wave(5))
f = x -> sum(launched(x, point).^2) + sum(launched(x, point))
v = image(3,4)
apart = hvp(f, v, v) - (grad(f, 1.00001*v) - grad(f, 0.99999*v))/2e-5
print "one number, by hvp: ", max(abs(apart)) < 1e-6
f = x -> sum(launched(x, point))
print "depends on a variable: ", abs(grad(t -> sum(grad(x -> t*t*f(x), v)), 3) - 6*sum(grad(f, v))) < 1e-9

f = x -> squares(launched(launched(x, point), point)) + squares(x)
v = image(3,4) - 0.3
apart = hvp(f, image(3,4), v) - (grad(f, image(3,4) + 1e-5*v) - grad(f, image(3,4) - 1e-5*v))/2e-5
print "by hvp: ", max(abs(apart)) < 1e-6
[y, t] = jvp(f, image(3,4), v)
print "by jvp: ", abs(t - sum(grad(f, image(3,4)).*v)) < 1e-9
print "a gradient of a gradient: ", max(abs(grad(x -> sum(grad(f, x).*v), image(3,4)) - hvp(f, image(3,4), v))) < 1e-9

% large enough for producer fusion, with and without compiling everything
function [] = main()
    x = wave(100000)
    for k = 1..8
        g = grad(x -> squares(lines(x)), x)
    end
    print "large: ", max(abs(g - 4*0.7*x.*(0.7*x.*x + wave(numel(x))))) < 1e-12
end
