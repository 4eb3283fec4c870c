% options: --precision 64
% tolerance: 1e-5
% devices: ref cpu
% A launch gets its tangents from one additional launch: hvp and jvp are compared with differences.
import "check.q"
function s = shrinks(x)
    s = 0*x[0]
    for i = 0..numel(x)-1
        t = x[i]
        while abs(t) > 0.1
            t = 0.5*t + 0.01*sin(t)
        end
        s += t^2*x[i]
    end
end
function s = blurred(x, k)
    y = zeros(2, numel(x))
    parallel_do(size(y), x, y, x[1], complex(x[0], x[2]), k)
    s = sum(y.^2)
end
function [] = __kernel__ blur(x : vec'circular, y : mat, a : scalar, z : cscalar, pos : ivec2)
    total = 0.0
    for k = -2..2
        total += exp(-x[pos[1]+k]^2)*a
    end
    y[pos] = total*real(z)*sin(imag(z)) + x[pos[1]]^3
end
function [] = __kernel__ adds(x : vec, y : mat, a : scalar, z : cscalar, pos : ivec2)
    y[0,0] += x[pos[1]]^2*a
    y[1,1] -= x[pos[1]]^3*imag(z)
end
twice("a while in a loop", shrinks, wave(6))
twice("a kernel", x -> blurred(x, blur), wave(5))
twice("shared sums", x -> blurred(x, adds), wave(5))
twice("stretched", x -> sum((x + [[1],[2]].*x.^2).^3 + x[1]*x), wave(4))
