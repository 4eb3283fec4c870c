% options: --loops always
% devices: ref cpu opencl
% An expression has the same bits alone, beside statements that compute the same product, and operator by operator.
a = mod((0..9999)*7919, 1024)/3
b = mod((0..9999)*104729, 1001)/7
c = mod((0..9999)*1299709, 997)/11

function y = alone(a, b, c)
    y = a.*b + c
end
function [y, d] = beside_product(a, b, c)
    d = a.*b
    y = a.*b + c
end
function [y, z] = product_twice(a, b, c)
    y = a.*b + c
    z = a.*b - c
end
function [y, d, z] = named_too(a, b, c)
    d = a.*b
    z = d + c
    y = a.*b + c
end
function y = one_by_one(a, b, c)
    p = a.*b
    _ = {p}
    y = p + c
end
function n = differences(a, b, c)
    y = alone(a, b, c)
    [u, _] = beside_product(a, b, c)
    [v, z] = product_twice(a, b, c)
    [w, _, q] = named_too(a, b, c)
    r = one_by_one(a, b, c)
    n = [sum(y != u), sum(y != v), sum(y != w), sum(y != q), sum(y != r), sum(z != a.*b - c)]
end
function y = sums_alone(a, b)
    y = sum(a.*b, 1) + b
end
function [y, d] = sums_beside_product(a, b)
    d = a.*b
    y = sum(a.*b, 1) + b
end
function n = differences_of_sums(a, b)
    y = sums_alone(a, b)
    [z, _] = sums_beside_product(a, b)
    n = sum(y != z)
end
print differences(a, b, c)
print differences(float64(a)./3, float64(b)./7, float64(c)./11)
print differences(complex(a, b), complex(b, c), complex(c, a))
print differences_of_sums(reshape(a, [100,100]), reshape(b, [100,100]))
