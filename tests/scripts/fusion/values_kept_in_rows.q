% devices: ref cpu opencl
% options: --loops always
% A value that takes long to compute, and that several loops over a row need, is stored there by the first of them.
function y = softmax_rows(x)
    e = exp(x - max(x, [], 1))
    y = e./sum(e, 1)
end
function [y, e] = terms_rows(x)
    e = exp(x - max(x, [], 1))
    y = e./sum(e, 1)
end
function [y, e] = twice_rows(x)
    e = exp(-abs(x - mean(x, 1)))
    f = sqrt(e + mean(e, 1))
    y = f./max(f, [], 1) + e
end
function y = types_rows(x)
    e = exp(x/8)
    y = float64(e)./sum(e, 1)
end
function s = total_rows(x)
    e = exp(x/8)
    s = sum(e./sum(e, 1), 1)
end
function y = softmax_columns(x)
    e = exp(x - max(x, [], 0))
    y = e./sum(e, 0)
end
function [y, e] = terms_columns(x)
    e = exp(x - max(x, [], 0))
    y = e./sum(e, 0)
end
function [y, e] = twice_columns(x)
    e = exp(-abs(x - mean(x, 0)))
    f = sqrt(e + mean(e, 0))
    y = f./max(f, [], 0) + e
end
function y = types_columns(x)
    e = exp(x/8)
    y = float64(e)./sum(e, 0)
end
function s = total_columns(x)
    e = exp(x/8)
    s = sum(e./sum(e, 0), 0)
end
function [] = compare(name, a, b)
    d = max(abs(float64(a) - float64(b)))
    if type(a) != type(b) || !isequal(size(a), size(b)) || !(d <= 1e-6*max(abs(float64(b))))
        print name, " differs: ", type(a), " ", type(b), " ", size(a), " ", size(b), " ", d
    end
end
% The same one operator after the other; each dimension is that of the functions.
function [] = check(x, k, softmax, terms, twice, types, total)
    t = x - max(x, [], k)
    e = exp(t)
    t = sum(e, k)
    y = e./t
    compare("softmax", softmax(x), y)
    [z, f] = terms(x)
    compare("with terms", z, y)
    compare("terms", f, e)
    t = x - mean(x, k)
    t = abs(t)
    e = exp(-t)
    t = e + mean(e, k)
    f = sqrt(t)
    t = max(f, [], k)
    t = f./t
    [y, z] = twice(x)
    compare("twice", y, t + e)
    compare("twice, inner", z, e)
    t = x/8
    e = exp(t)
    t = sum(e, k)
    z = float64(e)
    compare("types", types(x), z./t)
    t = e./t
    compare("total", total(x), sum(t, k))
end
a = reshape(mod((0..20*67-1)*7919, 1024)/128 - 4, [20,67])
cube = reshape(mod((0..6*35*40-1)*7919, 1024)/128 - 4, [6,35,40])
arrays = {a, float64(a), cube, a[:,66..-1..0], a[0..2..18,:], uint8(a + 4), a[3,:], a[:,3]}
for x = arrays
    check(x, 1, softmax_rows, terms_rows, twice_rows, types_rows, total_rows)
    if isvec(x)
        continue
    end
    check(x, 0, softmax_columns, terms_columns, twice_columns, types_columns, total_columns)
end
print "done"
