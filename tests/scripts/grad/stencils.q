% options: --precision 64
% tolerance: 1e-5
% Gradients of stencils: every access mode, at all borders, and for arrays smaller than the stencil.
import "check.q"

function [] = __kernel__ mirrored(x : mat'mirror, y : mat, w : mat'unchecked, pos : ivec2)
    s = 0.0
    for m = -2..2
        for n = -1..3
            s += w[m+2,n+1]*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s*s
end
function [] = __kernel__ reflected(x : mat'reflect, y : mat, w : mat'unchecked, pos : ivec2)
    s = 0.0
    for m = -2..2
        for n = -1..3
            s += w[m+2,n+1]*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s*s
end
function [] = __kernel__ clamped(x : mat'clamped, y : mat, w : mat'unchecked, pos : ivec2)
    s = 0.0
    for m = -2..2
        for n = -1..3
            s += w[m+2,n+1]*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s*s
end
function [] = __kernel__ circular(x : mat'circular, y : mat, w : mat'unchecked, pos : ivec2)
    s = 0.0
    for m = -2..2
        for n = -1..3
            s += w[m+2,n+1]*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s*s
end
function [] = __kernel__ safe(x : mat'safe, y : mat, w : mat'unchecked, pos : ivec2)
    s = 0.0
    for m = -2..2
        for n = -1..3
            s += w[m+2,n+1]*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s*s
end

function s = filtered(k, x, w)
    y = zeros(size(x))
    parallel_do(size(x), x, y, w, k)
    s = sum(y.*weights(size(y)))
end

function [] = all(name, k)
    w = 0.1*image(5,5)
    sizes = {[9,8], [5,5], [3,4], [2,1], [1,1]}
    for s = sizes
        check(sprintf("%s %dx%d", name, s[0], s[1]), x -> filtered(k, x, w), image(s[0], s[1]))
    end
    check(strcat(name, ", by its weights"), w -> filtered(k, image(6,7), w), w)
end
all("mirror", mirrored)
all("reflect", reflected)
all("clamped", clamped)
all("circular", circular)
all("safe", safe)

% two components of the position are mixed, and one is multiplied by two
function [] = __kernel__ halve(x : mat'clamped, y : mat, pos : ivec2)
    y[pos] = x[2*pos[0], 2*pos[1]]*x[2*pos[0]+1, 2*pos[1]+1]
end
function s = halved(x)
    y = zeros(size(x,0)/2, size(x,1)/2)
    parallel_do(size(y), x, y, halve)
    s = sum(y.*weights(size(y)))
end
check("every second element", halved, image(6,8))
function [] = __kernel__ turn(x : mat'mirror, y : mat, pos : ivec2)
    y[pos] = x[pos[1]+1, pos[0]-1]^2
end
function s = turned(x)
    y = zeros(size(x,1), size(x,0))
    parallel_do(size(y), x, y, turn)
    s = sum(y.*weights(size(y)))
end
check("transposed", turned, image(4,6))

% a search window with patch-based weights: sums of rows that are longer than a vector
function [] = __kernel__ means(x : mat'mirror, y : mat, pos : ivec2)
    total = 0.0
    weights = 0.0
    for dm = -1..1
        for dn = -2..2
            d = 0.0
            for pm = -1..1
                for pn = -1..1
                    e = x[pos[0]+pm, pos[1]+pn] - x[pos[0]+dm+pm, pos[1]+dn+pn]
                    d += e*e
                end
            end
            w = exp(-0.2*d)
            total += w*x[pos[0]+dm, pos[1]+dn]
            weights += w
        end
    end
    y[pos] = total/weights
end
function s = averaged(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, means)
    s = sum(y.*weights(size(y)))
end
check("means 9x47", averaged, image(9,47))
check("means 6x5", averaged, image(6,5))

% a border, several result elements at a position, and a scalar parameter
function [] = __kernel__ pairs(x : vec[vec2]'mirror, y : vec[vec2], s : scalar, pos : int)
    u = x[pos]*s
    y[pos][0] = tanh(u[1])
    y[pos][1] = sin(u[0]*s)
end
function r = paired(x)
    y = zeros(3,2)
    parallel_do(3, x, y, x[0,0], pairs)
    r = sum(y.*weights(size(y)))
end
check("pairs of elements and a number", paired, image(3,2))
