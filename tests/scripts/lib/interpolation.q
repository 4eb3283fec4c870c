function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
x = [0,1,3]
y = [1,2,5]
u : vec[uint8] = [2, 0, 2, 1]
at = [-1,0,0.5,1,2,3,4]
for name = {"linear", "nearest", "previous", "next", "pchip", "spline"}
    print name, " ", interp1(x, y, at, name), " ", interp1(x, y, at, name, "extrap"), " ", interp1(x, y, at, name, "clamp")
end
print interp1(x, y, at, "linear", -7), " ", interp1(x, y, 9, "linear", 1j), " ", interp1(x, y, [nan, inf, -inf], "pchip", "extrap")
print interp1([0,1], [1,3], [0.25,2], "spline", "extrap"), " ", interp1([0,1], [1,3], 0.25, "pchip"), " ", interp1(0..3, u, [0.5,1.5], "pchip")
print interp1([0,1], [1j,2], 0.5), " ", interp1([0,1], [1j,2], [0,1]), " ", interp1([0,1], [[1,2,3],[3,4,7]], 0.5), interp1([0,1], [[1,2,3],[3,4,7]], [0,1])
print interp1([0,1], transpose([4,8]), 0.5), " ", interp1([0,1], [1,2], []), " ", type(interp1([0,1], [1,2], [0])), " ", type(interp1([0,1], jsondecode("[1,2]"), [0]))
z = [[1,2,4],[3,4,6]]
for name = {"linear", "nearest", "cubic"}
    print name, " ", interp2(z, [0.5,1.5,2], [0.5,0,1], name), " ", interp2(z, [-1,3], [0,2], name, "extrap"), " ", interp2(z, [-1,3], [0,2], name, "clamp"), " ", interp2(z, 5, 5, name)
end
print interp2([7], 0, 0, "spline"), " ", interp2([[1j,2],[3,4]], 0.5, 0.5), " ", interp2(z, [], []), " ", interp2(z, [nan], [0], "spline"), " ", interp2(z, 9, 9, "linear", 2+1j)
attempt(() -> interp1([0], [1], 0))
attempt(() -> interp1([0,1], [1,2,3], 0))
attempt(() -> interp1([1,0], [1,2], 0))
attempt(() -> interp1([0,nan], [1,2], 0))
attempt(() -> interp1([1j,2], [1,2], 0))
attempt(() -> interp1([0,1], [1,2], 1j))
attempt(() -> interp1([0,1], [1,2], 0, "best"))
attempt(() -> interp1([0,1], [1,2], 0, 3))
attempt(() -> interp1([0,1], [1,2], 0, "linear", "edge"))
attempt(() -> interp1([0,1], [1,2], 0, "linear", {1}))
attempt(() -> interp2([1,2], 0, 0, "previous"))
attempt(() -> interp2([], 0, 0))
attempt(() -> interp2([1,2], [0,1], 0))
attempt(() -> interp2("z", 0, 0))
print interp1([0,1], [5,7], [-1,0.5,3], "spline", "clamp"), " ", interp1([0,1], [5,7], [-1,0.5,3], "linear", "clamp")

% interp2 of many positions, inside, at and outside the edges, beside single ones.
randseed(5)
z = rand(9,7)
z[2,3] = nan
z[4,4] = -1/inf
x = round(4*(8*rand(1,1000)-1))/4
y = 10*rand(1,1000) - 1
x[7] = nan
y[300] = inf
y[400..499] = round(y[400..499])
wrong = 0
for f = {u -> u, float64, float16}
    for outside = {nan, -1, "clamp", "extrap", 1i}
        for method = {"linear", "nearest"}
            v = interp2(f(z), x, y, method, outside)
            for k = 0..999
                one = interp2(f(z), x[k..k], y[k..k], method, outside)
                wrong += one[0] != v[k] && !(isnan(one[0]) && isnan(v[k]))
            end
        end
    end
end
print "wrong ", wrong
