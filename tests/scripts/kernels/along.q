% devices: ref
% All types, layouts and dimensions, on the KIR evaluator; along_few.q tests a subset as machine code.
import "along_cases.q"

shapes = {[3,40], [40,3], [1,700], [5,1100], [2,3,33], [2,33,3], [2,2,2,20]}
for i = 0..numel(shapes)-1
    s = shapes[i]
    x = reshape(wave(prod(s), 0.7), s)
    for dim = 0..numel(s)-1
        check_all("float64", x, dim)
        check_all("float32", float32(x), dim)
    end
end
x = reshape(wave(120, 1.3), [4,30])
odd = float32(x)
odd[1,3] = nan
odd[2,:] = nan
odd[0,7] = -inf
zeros_of_signs = reshape([0,-0.0,-0.0,-0.0], [2,2])
huge = [inf,2,-inf,4,-0.0,0,nan,1]
for dim = 0..1
    check_all("nan", odd, dim)
    check_all("zeros", zeros_of_signs, dim)
    check_all("int8", int8(x*50), dim)
    check_all("uint8", uint8(abs(x)*50), dim)
    check_all("int32", int32(x*9), dim)
    check_all("bool", x > 0.5, dim)
    check_all("complex", complex(x, x.^2), dim)
    check_all("infinite", complex(reshape(huge, [2,4]), reshape(circshift(huge, 1), [2,4])), dim)
    check_all("imaginary", complex(reshape([0,0,0,0], [2,2]), reshape([0.9,0,-0.2,0], [2,2])), dim)
    check_all("one infinite", complex(reshape(huge, [8,1]), 1), dim)
    check_all("turned", transpose(x), dim)
    check_all("a part", x[1..3,4..3..28], dim)
    check_all("backwards", x[3..-1..0,20..-2..3], dim)
end
check("product of zeros", () -> prod(complex([[-0.0],[-0.0]], [[-0.0],[-0.0]]), 0), 0)
check("few, infinite, in a group", () -> prod(complex(reshape(repmat([inf,1,1,1,1], [1,8]), [1,40]), 0), 1), 0)

% over everything
check("sum", () -> [sum(x), mean(x), prod(x[0,0..9]), norm(x), squared_norm(x)], 1e-6)
check("extremes", () -> [max(x), min(x), max(int8(x)), any(x > 2), all(x < 3)], 0)
check("spread", () -> [var(x), std(x)], 1e-6)
check("rows and columns", () -> sum(sum(x[:,2..20], 0), 1), 1e-6)

% elements
y = float32(transpose(reshape(wave(120, 0.9), [30,4])))
row = float32(x[0..0,:])
column = y[:,2..2]
check("add", () -> y + float32(x), 0)
check("stretched", () -> y.*row - column, 0)
check("number", () -> 2*y - 1, 0)
check("quotient", () -> row./column, 0)
check("compared", () -> row > column, 0)
check("extreme", () -> max(y, row), 0)
check("sine", () -> sin(column), 1e-6)
check("powers", () -> vertcat(abs(y).^0.5, y.^3, y.^-2, abs(y).^1.7), 1e-6)
check("complex", () -> complex(y, y)*complex(1, 2), 1e-6)
check("whole", () -> int32(y*9) - int32(row*9), 0)
check("negative", () -> -(y), 0)

function z = in_place(y, row)
    z = copy(y)
    z += row
    z .*= y
    z[1,:] -= row
end
check("in place", () -> in_place(y, row), 1e-6)
setenv("QUASAR_LIBRARIES", "always")
print gradcheck(x -> sum(var(x, 1).*mean(x, 1).^2) + sum(max(x, [], 0)), x)

% arrays without values yet
function z = partly(x)
    z = uninit_like(x)
    parallel_do(20, z, x, half)
    z[1,:] = 0
end
function [] = __kernel__ half(z : mat, x : mat, pos : int)
    z[0,pos] = x[0,pos]
end
print isequal(partly(x)[0,0..19], x[0,0..19])
