% Values interpolated in grids of several dimensions agree with SciPy: tests/goldens/make.py.
import "gridded.q"
g = load("tests/goldens/gridded.npz")
function [] = check(name, got, wanted)
    if !isequal(size(got), size(wanted)) || !allclose(got, wanted, 1e-10, 1e-10)
        print name, " is wrong: ", size(got), " ", size(wanted)
        print max(abs(got - wanted))
    endif
end
x = {g.x0, g.x1, g.x2}
check("linear", interpn(x, g.z, g.at), g.linear)
check("nearest", interpn(x, g.z, g.at, "nearest"), g.nearest)
check("cubic", interpn(x, g.z, g.at, "cubic"), g.cubic)
check("spline", interpn(x, g.z, g.at, "spline"), g.cubic)
check("extrapolated", interpn(x, g.z, g.wide, "linear", "extrap"), g.line)
check("a number outside", interpn(x, g.z, g.wide, "linear", -1), g.beyond)
check("four dimensions", interpn(null, g.four, g.places), g.hyper)
ends = vertcat(g.x0[[0,4]], g.x1[[0,5]], g.x2[[0,6]])
low = reshape(ends[:,0], [1,3])
high = reshape(ends[:,1], [1,3])
check("clamp", interpn(x, g.z, g.wide, "cubic", "clamp"), interpn(x, g.z, clamp(g.wide, low, high), "cubic"))
% At the points of the grid, each method returns the values there; a cubic polynomial is exact everywhere.
print interpn(null, float64([[1,2],[3,4]]), [[0,1],[1,0],[0.5,0.5],[nan,0]]), interpn(null, float64([1,4,9,16]), [[1.5],[3]])
p = (i, j) -> i.^3 - 2*i.*j.^2 + j
[j, i] = meshgrid(float64(0..5), float64(0..4))
print max(abs(interpn(null, p(i, j), [[0.3,4.9],[3.7,0.1]], "cubic") - p([0.3,3.7], [4.9,0.1]))) < 1e-5
print interpn(null, int([[1,2],[3,4]]), [[0.25,0.5]]), type(interpn(null, int([[1,2],[3,4]]), [[0.25,0.5]])), numel(interpn(null, eye(3), zeros(0,2)))
% Derivatives with respect to the values and the positions agree with differences.
z = copy(g.z)
for method = {"linear", "cubic"}
    [dz, dat] = grad((z, at) -> sum(interpn(x, z, at, method).^2), z, g.at)
    error_ = 0
    for k = 0..4
        e = zeros_like(z)
        e[k,k,k+1] = 1e-5
        d = (sum(interpn(x, z+e, g.at, method).^2) - sum(interpn(x, z-e, g.at, method).^2))/2e-5
        a = zeros_like(g.at)
        a[k,mod(k,3)] = 1e-6
        da = (sum(interpn(x, z, g.at+a, method).^2) - sum(interpn(x, z, g.at-a, method).^2))/2e-6
        error_ = max(error_, max(abs(d - dz[k,k,k+1]), abs(da - dat[k,mod(k,3)])))
    end
    print error_ < 1e-7
end
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> interpn(x, g.z, g.at, "wrong"))
attempt(() -> interpn({g.x0}, g.z, g.at))
attempt(() -> interpn({g.x1,g.x1,g.x2}, g.z, g.at))
attempt(() -> interpn({-g.x0,g.x1,g.x2}, g.z, g.at))
attempt(() -> interpn(null, g.z, [[1,2]]))
attempt(() -> interpn(null, 1j*g.z, g.at))
attempt(() -> interpn(null, "a", g.at))
attempt(() -> interpn(null, ones(3,5), [[1,2]], "cubic"))
attempt(() -> interpn(null, ones(1,5), [[0,2]]))
attempt(() -> interpn(null, ones(3,5), [[1,2]], "linear", "mirror"))
attempt(() -> interpn({[0,nan,1],[1,2]}, ones(3,2), [[1,2]]))
print interpn(null, [[1,2],[3,4]], [[0.5,nan],[0.5,0.5]], "linear", "clamp"), interpn(null, [[1,2],[3,4]], [[nan,0]], "nearest", "extrap")
