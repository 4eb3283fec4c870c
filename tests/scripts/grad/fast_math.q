% Kernels with fast math: their derivatives combine powers and factor sums.
function [] = __kernel__ forces(p : mat'unchecked, f : mat'unchecked, n : int, pos : int)
    {!kernel fast_math=true}
    fx = 0.0
    fy = 0.0
    for j = 0..n-1
        dx = p[0,j] - p[0,pos]
        dy = p[1,j] - p[1,pos]
        d = dx*dx + dy*dy + 0.3
        r = 1/(d*sqrt(d))
        fx += dx*r
        fy += dy*r
    end
    f[0,pos] = fx
    f[1,pos] = fy
end

function [] = __kernel__ chain(x : vec, y : vec, pos : int)
    {!kernel fast_math=true}
    a = 0.5 + x[pos]*x[pos]
    b = sqrt(a)/(a*a)
    c = (x[pos] - b)/sqrt(2 + a)
    y[pos] = b*b/a - (a - b)*(b - a)*c + 3*c*sqrt(a)/b
end

% as many positions as iterations, more, fewer, and none
p = float64([[0.1,0.7,-0.4,0.9,0.3,-0.8,0.2,0.6,-0.1,0.5],[0.4,-0.2,0.8,0.1,-0.6,0.3,0.9,-0.7,0.2,-0.5]])
function s = energy(p, positions, turns)
    f = zeros_like(p, 2, size(p,1))
    parallel_do(positions, p, f, turns, forces)
    s = sum(f.*f.*[[1,2,3,4,5,6,7,8,9,10],[3,1,4,1,5,9,2,6,5,3]])
end
print gradcheck(p -> energy(p, 10, 10), p), gradcheck(p -> energy(p, 7, 10), p), gradcheck(p -> energy(p, 10, 4), p)
print gradcheck(p -> energy(p, 3, 5), p), gradcheck(p -> energy(p, 5, 0), p)

function y = chained(x)
    y = zeros_like(x)
    parallel_do(numel(x), x, y, chain)
end
x = float64([0.2,-0.7,1.3,0.05])
print gradcheck(x -> sum(chained(x)), x), gradcheck(x -> sum(sin(grad(x -> sum(chained(x)), x))), x)
[y, dy] = jvp(chained, x, ones_like(x))
print max(abs(dy - grad(x -> sum(chained(x)), x))) < 1e-12

% the gradient of zero times a square root at zero is zero
function [] = __kernel__ at_zero(x : vec, y : vec, pos : int)
    {!kernel fast_math=true}
    y[pos] = x[pos]*sqrt(x[pos])
end
function s = zeros_too(x)
    y = zeros_like(x)
    parallel_do(numel(x), x, y, at_zero)
    s = sum(y)
end
print grad(zeros_too, float64([0,4]))
