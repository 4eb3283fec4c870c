% devices: ref cpu opencl
% tolerance: 1e-5
% Consecutive statements run as one kernel and give what they give one by one: values, errors, and what is not stored.
n = 60
x = reshape(mod((0..n*n-1)*7919, 1024)/128 - 4, [n,n])
y = reshape(mod((0..n*n-1)*104729, 1001)/128 - 4, [n,n])
z = reshape(mod((0..n*n-1)*1299709, 997)/64, [n,n])

function [a, b] = two_results(x, y)
    d = x - y
    w = d.^2 + 1
    a = d./w
    b = sqrt(w)
end
function [a, b] = two_results_alone(x, y)
    d = x - y
    _ = {d}
    q = d.^2
    _ = {q}
    w = q + 1
    _ = {w}
    a = d./w
    _ = {a}
    b = sqrt(w)
end

function s = rounded_product(x, y, z)
    p = x.*y
    s = p + z
end

function x = argument_changed(x, y)
    x = x.*2 + y
    x = x.^2 - y
    x = x > 3 ? 3 : x
end

function [v, f] = captured_and_used(x, y)
    t = x.*y + 1
    u = t.*t - x
    v = u + 1
    f = () -> sum(t)
    v = v + sum(u)
end

function r = read_before(x, y)
    t = x
    r = x
    for k = 1..6
        r = r.*0.5 + t
        t = r - y
    end
end

function [g, h] = sums_along_rows(p)
    dx = p[0,:] - transpose(p[0,:])
    dy = p[1,:] - transpose(p[1,:])
    w = 1./(dx.^2 + dy.^2 + 1)
    g = sum(dx.*w, 1)
    h = max(dy.*w, [], 1) + g
end

function a = sums_in_a_call(p)
    dx = p[0,:] - transpose(p[0,:])
    dy = p[1,:] - transpose(p[1,:])
    a = vertcat(transpose(sum(dx.*dy, 1)), transpose(mean(dx + dy, 1)), transpose(dx[:,2]))
end

function [c, s] = centred(x)
    m = mean(x, 1)
    c = x - m
    s = logsumexp(c, 1) + mean(c.*c, 1)
end

function x = part_assigned(x, y)
    x = copy(x)
    n = size(x, 0)
    left = y[1..n-2,0..n-3]*2
    right = y[1..n-2,2..n-1]*2
    x[1..n-2,1..n-2] = right - left + x[1..n-2,1..n-2]
end

function [a, b] = with_numbers(x, k)
    h = k*0.5
    a = x*h + 1
    b = a.*a - h
end

function [a, b] = row_and_matrix(x, row)
    r = row.*2 + 1
    a = x.*r + 1
    b = a - r
end

function [a, b, c] = types(u, x)
    a = u*2 + 1
    b = a > 40 && x < 1
    c = complex(x, 1).*(b ? 2 : x)
end

function y = random_leaves(n)
    a = rand(n, n) + 1
    y = a.*2 - rand(n, n)
end

function r = shape_error(x, y)
    d = "none"
    e = "none"
    try
        d = x - 1
        e = d.*2 + y
        r = e + d
    catch problem
        r = {problem, d, e}
    end
end

function r = order_of_errors(x, y)
    r = "none"
    try
        d = x + y
        e = d + x[0..99999,0]
    catch problem
        r = problem
    end
end

function r = index_error(x)
    try
        d = x + 1
        e = d.*x[:,99] + 1
        r = e
    catch problem
        r = problem
    end
end

rows = x[0..1,:]
for k = 1..12
    [a, b] = two_results(x, y)
    s = rounded_product(x, y, z)
    changed = argument_changed(x, y)
    [v, f] = captured_and_used(x, y)
    r = read_before(x, y)
    [g, h] = sums_along_rows(rows)
    cat = sums_in_a_call(rows)
    [c, l] = centred(x)
    p = part_assigned(x, y)
    [na, nb] = with_numbers(x, k)
    [ra, rb] = row_and_matrix(x, y[3,:])
    [ta, tb, tc] = types(uint8(z*2), x)
end
[a1, b1] = two_results_alone(x, y)
q = x.*y
_ = {q}
print isequal(a, a1), isequal(b, b1), isequal(s, q + z)
print sum(changed), " ", sum(x), " ", x[3,4]
print sum(v), " ", f(), " ", sum(r)
print size(g), size(h), " ", sum(g) < 1e-3, " ", sum(h), " ", cat[2,5], " ", abs(sum(cat[0,:]) - cat[0,:]*ones(n,1)) < 1
print abs(sum(c)) < 1e-2, " ", size(l), " ", abs(sum(l) - sum(logsumexp(c, 1)) - sum(mean(c.^2, 1))) < 1e-2
print sum(p), " ", p[0,5] == x[0,5], " ", p[7,5] == x[7,5] + 2*(y[7,6] - y[7,4])
print sum(na), " ", sum(nb), " ", sum(ra), " ", sum(rb), " ", size(ra)
print type(ta), " ", sum(ta), " ", type(tb), " ", sum(tb), " ", sum(real(tc))
randseed(5)
first = random_leaves(60)
randseed(5)
again = rand(60, 60)
again = (again + 1).*2
print isequal(first, again - rand(60, 60))

small = zeros(3, 2)
for k = 1..3
    e = shape_error(x, small)
    print e[0], " ", isequal(e[1], x - 1), " ", e[2]
    print order_of_errors(x, small)
    print index_error(x)
end

loss = x -> sum(two_results(x, y))
print abs(sum(grad(loss, x)) - sum((1 - (x-y).^2)./(1 + (x-y).^2).^2)) < 1e-2
