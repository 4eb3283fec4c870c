% options: --precision 64
% tolerance: 1e-6
% Adjoints of arrays that several launches read; they are so large that a later launch accumulates where it could store.
import "check.q"

function [] = __kernel__ sweep(u : mat'safe, f : mat, v : mat, pos : ivec2)
    v[pos] = 0.25*(u[pos-[1,0]] + u[pos+[1,0]] + f[pos])
end

function [] = __kernel__ products(x : mat'clamped, y : mat, pos : ivec2)
    y[pos] = x[pos[0],pos[1]-1]*x[pos[0]+1,pos[1]]
end

function [] = __kernel__ part(x : vec, y : vec, pos : int)
    y[pos] = x[pos]^2
end

% f is read by launches with one element each, by gathers, by launches on a slice, by expressions and by operators
function s = value(f)
    u = sin(f)
    s = sum(u)
    for k = 1..3
        v = uninit(size(f))
        parallel_do(size(f), u, f, v, sweep)
        u = v
        parallel_do(size(f), f, v, products)
        s += sum(v.*f)*0.01
    end
    y = zeros(numel(f))
    parallel_do(numel(f)/2, reshape(f, numel(f)), y, part)
    s += sum(u.*u) + sum(f.^2) + sum(y)
end

function [] = main()
    for n = [4, 192]
        f = reshape(mod((0..n*n-1)*37, 101)/101, [n,n])
        d = reshape(mod((0..n*n-1)*53, 103)/103, [n,n]) - 0.5
        h = 1e-4
        slope = (value(f+h*d) - value(f-h*d))/(2*h)
        print abs(sum(grad(value, f).*d) - slope) < 1e-6*(1 + abs(slope))
        twice = (grad(value, f+h*d) - grad(value, f-h*d))/(2*h)
        print max(abs(hvp(value, f, d) - twice)) < 1e-5, " ", max(abs(twice)) > 1
    end
end
