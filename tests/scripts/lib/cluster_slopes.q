% The footprint of a gradient counts for halo and cluster_map: the result by blocks equals the result of the whole.
import "cluster.q"
import "dnn.q"

function [] = __kernel__ blur(x : mat'mirror, y : mat, r : int, pos : ivec2)
    total = 0.0
    for m = -r..r
        for n = -r..r
            total += x[pos+[m,n]]
        end
    end
    y[pos] = total/(2*r+1)^2
end
function [] = __kernel__ product(x : mat'clamped, y : mat, pos : ivec2)
    y[pos] = x[pos+[0,1]]*x[pos-[0,1]]
end
function [] = __kernel__ weigh(x : mat'mirror, y : mat, w : vec, s : scalar, pos : ivec2)
    y[pos] = s*(w[0]*x[pos-[0,2]] + w[1]*x[pos])
end
function [] = __kernel__ wrap(x : mat'circular, y : mat, pos : ivec2)
    y[pos] = x[pos-[1,0]]
end
function [] = __kernel__ rows(x : mat, d : vec, y : mat, pos : ivec2)
    y[pos] = x[pos]*d[pos[0]]
end
function y = blurred(x, r)
    y = uninit(size(x))
    parallel_do(size(x), x, y, r, blur)
end
function y = neighbours(x)
    y = uninit(size(x))
    parallel_do(size(x), x, y, product)
end
function y = weighted(x, w, s)
    y = uninit(size(x))
    parallel_do(size(x), x, y, w, s, weigh)
end
function y = wrapped(x)
    y = uninit(size(x))
    parallel_do(size(x), x, y, wrap)
end
function y = scaled(x, d)
    y = uninit(size(x))
    parallel_do(size(x), x, d, y, rows)
end

function d = tangent(x)
    [y, d] = jvp(neighbours, {x}, {x.^2})
end
function g = pulled(x)
    [y, pull] = vjp(neighbours, x)
    g = pull(x.^2)
end
slope = x -> grad(z -> sum(blurred(z,1).^2), x)
cubed = x -> grad(z -> sum(neighbours(z).^3), x)
linear = x -> grad(z -> sum(weighted(z, [1,2], 3).^2), x)
chain = x -> grad(z -> sum(neighbours(blurred(z,2))), x)
second = x -> grad(z -> sum(grad(t -> sum(neighbours(t).^2), z).^2), x)
curved = x -> hvp(z -> sum(neighbours(z).^2), x, x)

function [] = compare(f, a, block)
    n = halo(f, a)
    wide = cluster_map(f, a, block)
    y = f(a)
    print n, " ", max(abs(y - wide)) <= 1e-5*max(abs(y))
end
a = randn(33,61)
for f = {slope, cubed, linear, tangent, pulled}
    compare(f, a, [10,13])
end
compare(chain, a, [20,13])
compare(second, a, [33,29])
compare(curved, a, [33,29])

% values that no block knows
function [] = why(f, args)
    try
        print apply(f, args)
    catch e
        print e
    end
end
why(halo, {x -> x*sum(grad(w -> sum(weighted(x, w, 3)), [1,2])), a})
why(halo, {x -> x*grad(s -> sum(weighted(x, [1,2], s)), 2), a})
why(halo, {x -> x*sum(grad(d -> sum(scaled(x, d)), ones(1,33))), a})
why(cluster_map, {x -> grad(z -> sum(wrapped(z).^2), x), a, [10,13]})

% with and without kernels
setenv("QUASAR_LIBRARIES", "always")
x = randn(1,1,8,8)
why(halo, {x -> conv2d(x, ones(1,1,3,3), padding:=1), x})
why(cluster_map, {x -> conv_planes_input(x, ones(1,1,3,3), size(x), 1, 1, 1, 1), x, [1,1,4,4]})
why(halo, {x -> conv_planes_bias(x), x})
