% options: --loops always
% A parallel loop whose result is the value of its last iteration: forward and reverse derivatives agree.
function y = last_of_range(a)
    t = 0.1
    for i = 0..numel(a)-1
        t = a[i]*a[i]
    end
    y = t
end
function y = last_of_items(a)
    t = 0.1
    for v = a
        t = exp(v) + v*v
    end
    y = t + sum(a)
end
function y = last_of_two(x)
    [t, s] = [0, 0]
    for i = 0..numel(x)-1
        t = x[i]*3
        s = sin(x[i])
    end
    y = t*s
end
x = [0.5,2,3]
u = [1,10,100]
for f = {last_of_range, last_of_items, last_of_two}
    [y, dy] = jvp(f, {x}, {u})
    g = grad(f, x)
    print g, " ", abs(dy - sum(g.*u)) < 1e-4*abs(dy), " ", round(hvp(f, x, u))
end
