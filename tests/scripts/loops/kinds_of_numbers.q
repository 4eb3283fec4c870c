% options: --loops always
% Code is specialised for properties of the numbers it is run with; the next number need not have the same properties.
function y = divided(z)
    y = zeros(2)
    for i = 0..1
        y[i] = 1/z
    end
end

function y = listed(k)
    y = float64([0,0])
    for i = 0..1
        p = [k, k + 1]
        y[i] = p[i]
    end
end

function s = counted(n)
    s = 0
    for i = 0..1
        s += mod(n + i, 10)
    end
end

function y = extents(x)
    y = [0,0]
    for i = 0..1
        y[i] = size(x, 1) + i
    end
end

function y = beside_a_fraction(k)
    y = float64([0,0])
    for i = 0..1
        p = [k, 0.5]
        y[i] = p[i]
    end
end

function y = extents_beside_a_fraction(x)
    y = float64([0,0])
    for i = 0..1
        p = [size(x, 1), 0.5]
        y[i] = p[i]
    end
end

zero = 0.0
print divided(zero), " ", divided(-zero), " ", divided(zero)
for k = [3, 1048577, 16777217, 2147483647, 2147483648]
    print k, ": ", listed(k), " ", counted(k), " ", beside_a_fraction(k)
end
print extents(zeros(3)), " ", extents(uint8(zeros(1, 1048577)))
print extents_beside_a_fraction(zeros(3)), " ", extents_beside_a_fraction(uint8(zeros(1, 16777217)))
