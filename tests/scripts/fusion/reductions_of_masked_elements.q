% devices: ref cpu
% A reduction of x[mask] as one kernel gives what its parts give: values, types, no elements, nan, errors.
function [] = compare(name, a, b)
    same = type(a) == type(b) && (a == b || (a != a && b != b) || abs(a - b) <= 1e-12*abs(b))
    if !same
        print name, " differs: ", type(a), " ", a, " ", type(b), " ", b
    end
end
function [] = all_of(x, y, m, a)
    v = x[m]
    compare("sum", sum(x[m]), sum(v))
    compare("mean", mean(x[m]), mean(v))
    compare("number", numel(x[m]), numel(v))
    n = x > a && !(y > a)
    v = x[n]
    compare("sum", sum(x[x > a && !(y > a)]), sum(v))
    compare("mean", mean(x[x > a && !(y > a)]), mean(v))
    compare("least", min(x[x > a && !(y > a)]), min(v))
    compare("greatest", max(x[x > a && !(y > a)]), max(v))
    compare("number", numel(x[x > a && !(y > a)]), numel(v))
    w = y[n]
    d = v - w
    compare("squares", mean((x[n] - y[n]).^2), mean(d.^2))
    d = x.*y + a
    d = d[n]
    compare("expression", sum((x.*y + a)[n]), sum(d))
    d = 2*d
    compare("expression", max(2*(x.*y + a)[n]), max(d))
end
x = mod((0..39999)*7919, 1024)/256 - 2
y = mod((0..39999)*104729, 1001)/256 - 2
for k = 1..20                          % long enough to be compiled
    all_of(x, y, x > 0.5, 0.25)
    all_of(reshape(x, [200,200]), reshape(y, [200,200]), reshape(x > 0.5, [200,200]), 0.25)
    all_of(float64(x), y, x > 0.5, 0.25)
    all_of(int(x*50), int(y*50), x > 0.5, 3)
    all_of(uint8(x*30 + 70), uint8(y*30 + 70), x > 0.5, 100)
    z = copy(x)
    z[x > 1] = 0/0
    all_of(z, y, x > 0.5, 0.25)
    all_of(z, y, x > 1, 0.25)
end
% no elements; an index that is no mask; shapes that do not fit; -0
function [] = others(x, m)
    print sum(x[m > 9]), " ", numel(x[m > 9]), " ", mean(x[m > 9])
    k = 0..2..39998
    print sum(x[k]), " ", numel(x[k]), " ", sum((x[k] - 1).^2)
    try
        print max(x[m > 9])
    catch e
        print e
    end
    try
        print sum(x[m[0..99] > 0])
    catch e
        print e
    end
    try
        print sum(x[m > 0] + x)
    catch e
        print e
    end
    zero = -0.0*x
    print 1/max(zero[x > 1]), " ", 1/min(zero[x > 1])
end
for k = 1..3
    others(x, y)
end
print grad(x -> sum(x[x > 0].^2), [1,-2,3])
