% part: the functions that tests/adjoints.py calls
function v = V(n)
    v = cast_like(2*rand(1,n)-1, float64([0])) + 0.01
end
function v = P(n)
    v = V(n)/2 + 1
end
function v = A(m,n)
    v = cast_like(2*rand(m,n)-1, float64([0])) + 0.01
end
function v = C(m,n,k)
    v = cast_like(2*rand(m,n,k)-1, float64([0])) + 0.01
end
function v = Z(m,n)
    v = complex(A(m,n), A(m,n))
end
function v = up(n)
    v = float64(0..n-1) + 0.2*P(n)
end
function v = zero(v)
    v[1] = 0
end
function v = both(a, b)
    [x, y] = meshgrid(a, b)
    v = x.*y + y
end
function e = edges_of(x)
    [h, e] = histogram(x, 4)
end
function s = sym(x)
    s = x*herm_transpose(x) + (x + herm_transpose(x))/2 + diag([3,4,5])
end
function r = first_of_chol(x)
    [r, info] = chol_ex(x)
end
function r = first_of_two(x)
    [r, info] = chol(x)
end
function v = found_values(x)
    [row, column, v] = find(x)
    v = v.*(row + 2*column + 1)
end
function p = scaled_fit(x, y)
    [p, S, mu] = polyfit(x, y, 2)
    p = horzcat(p, mu)
end
function y = probability_of(x)
    [r, y] = corrcoef(x)
    y = y + 0.3*r
end
function y = part_qr(x, k)
    [q, r] = qr(x)
    y = k == 0 ? q : r
end
function y = part_permuted(x, k)
    [q, r, p] = qr(x)
    y = k == 0 ? q : r
end
function y = part_lu(x, k)
    [l, u, p] = lu(x)
    y = k == 0 ? l : u
end
function y = lower_of_two(x)
    [y, u] = lu(x)
end
function y = grid_of(k, xs, ys, zs)
    [x, y, z] = meshgrid(xs, ys, zs)
    y = k == 0 ? x : k == 1 ? y : z
end
function y = part_svd(x, k)
    [u, s, v] = svd(x)
    y = k == 0 ? u : k == 1 ? s : v
end
function y = part_symeig(x, k)
    [v, d] = symeig(x)
    y = k == 0 ? v : d
end
function y = part_eig(x, k)
    [v, d] = eig(x)
    y = k == 0 ? v : d
end
function x = by_factors(a, b)
    [y, f] = solve(a, b)
    x = solve_back(a, y, f)
end
function y = written(x, v)
    y = copy(x)
    y[1,:] = v
    y[0,1] = 2*v[0]
end
function y = written_list(x, v)
    y = 2*x
    y[[3,1,3]] = v
end
function y = written_mask(x, v)
    y = 2*x
    y[[0,1,0,1] == 1] = v
end
function y = added(x, v)
    y = copy(x)
    y[1] += v*x[0]
    y[2] *= x[3]
end
function y = updated(x, v)
    y = 2*x
    y += v
    y .*= x
end
function s = each_of(x)
    s = 0
    k = 1
    for v = x
        s += k*v^2
        k += 1
    end
end
function s = each_row(x)
    s = 0
    k = 1
    for v = x
        s += k*v.^2
        k += 1
    end
end
function s = taken(x)
    [a, b] = x
    s = a*b
end
function y = clamped_read(x : vec[float64]'clamped)
    y = zeros_like(x, 5)
    for i = 0..4
        y[i] = x[i-1]^2
    end
end
function [] = check(name, f, arguments)
    try
        good = apply(gradcheck, together(f, arguments))
    catch e
        print "FAIL ", name, ": ", e
    end
    try
        seed = 17
        g = (...x) -> slope(f, x, seed)
        good = apply(gradcheck, together(g, arguments))
    catch e
        print "FAIL second ", name, ": ", e
    end
    try
        transposed(name, f, arguments)
    catch e
        print "FAIL forward ", name, ": ", e
    end
end
function list = together(f, arguments)
    list = cell(numel(arguments)+1)
    list[0] = f
    for i = 0..numel(arguments)-1
        list[i+1] = arguments[i]
    end
end
% One number made of the gradient of one number made of f.
function s = slope(f, arguments, seed)
    d = apply(grad, together((...x) -> weighted(f, x, seed), arguments))
    s = real(sum(d.*conj(d)))/2
end
function s = weighted(f, arguments, seed)
    y = apply(f, arguments)
    randseed(seed)
    w = 0.5 + cast_like(rand(size(y)), float64([0]))
    s = sum(w.*real(y)) + sum(w.*imag(y))/3
end
function u = like(x)
    u = type(x) == "scalar" ? rand() : type(x) == "cscalar" ? complex(rand(), rand()) : iscomplex(x) ? complex(weights(x), weights(x)) : weights(x)
end
function w = weights(x)
    w = cast_like(rand(size(x))-0.4, float64([0]))
end
function [] = transposed(name, f, arguments)
    n = numel(arguments)
    us = cell(n)
    for i = 0..n-1
        us[i] = like(arguments[i])
    end
    [y, dy] = jvp(f, arguments, us)
    [y, pull] = apply(vjp, together(f, arguments))
    v = like(y)
    left = real(sum(conj(v).*dy))
    right = 0
    if n == 1
        right = inner(pull(v), us[0])
    elseif n == 2
        [a, b] = pull(v)
        right = inner(a, us[0]) + inner(b, us[1])
    else
        [a, b, c] = pull(v)
        right = inner(a, us[0]) + inner(b, us[1]) + inner(c, us[2])
    end
    if abs(left-right) > 1e-8*(1+abs(left))
        print "FAIL forward ", name, ": <v, J u> is ", left, ", <J' v, u> is ", right
    end
end
function s = inner(a, b)
    s = real(sum(conj(a).*b))
end
