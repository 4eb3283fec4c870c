% Solutions of stiff differential equations agree with SciPy's Radau: tests/goldens/make.py.
import "ode.q"
g = load("tests/goldens/stiff.npz")
function [] = check(name, got, wanted, tolerance)
    if !isequal(size(got), size(wanted)) || !allclose(got, wanted, tolerance, tolerance*max(abs(wanted)))
        print name, " is wrong: ", size(got), " ", size(wanted)
        print max(abs(got - wanted))
    endif
end
mu = 1000
oscillator = (t, y) -> float64([y[1], mu*(1-y[0]^2)*y[1]-y[0]])
[t, y] = ode23s(oscillator, g.times, [2,0], 1e-6, 1e-9)
check("oscillator", y[:,0], g.oscillator[:,0], 1e-4)
[t, y] = ode23s(oscillator, [0,2000], [2,0])
print numel(t) < 400
robertson = (t, y) -> float64([1e4*y[1]*y[2] - 0.04*y[0], 0.04*y[0] - 1e4*y[1]*y[2] - 3e7*y[1]^2, 3e7*y[1]^2])
[t, y] = ode23s(robertson, g.decades, [1,0,0], 1e-6, 1e-11)
check("robertson", y, g.robertson, 1e-5)
% A Jacobian that is given, as a function or a matrix, makes the same steps as the derivatives of the language.
slopes = (t, y) -> float64([[-0.04, 1e4*y[2], 1e4*y[1]], [0.04, -1e4*y[2] - 6e7*y[1], -1e4*y[1]], [0, 6e7*y[1], 0]])
[t, given] = ode23s(robertson, g.decades, [1,0,0], 1e-6, 1e-11, J := slopes)
check("given", given, y, 1e-9)
driven = (t, y) -> -50*(y - cos(t))
[t, y] = ode23s(driven, g.times/1000, 0, 1e-7, 1e-9)
check("driven", y, g.driven, 1e-5)
[t, same] = ode23s(driven, g.times/1000, 0, 1e-7, 1e-9, J := -50)
check("driven with J", same, y, 1e-8)
% The order is 2: the error is in proportion to the tolerance to the power 2/3.
errors = []
for tolerance = [1e-4,1e-7]
    [t, y] = ode23s(driven, [0,2], 0, tolerance, tolerance)
    errors = horzcat(errors, max(abs(transpose(y) - ((2500*cos(t) + 50*sin(t) - 2500*exp(-50*t))/2501))))
end
print errors[0]/errors[1] > 50, errors[1] < 1e-5
% The numerical differentiation formulas make the steps of SciPy's BDF.
[t, y] = ode15s(robertson, [0,40000], [1,0,0], 1e-6, 1e-11)
check("steps", y, g.bdf, 1e-6)
[t, y] = ode15s(driven, g.times/1000, 0, 1e-7, 1e-9)
check("differences of driven", y, g.driven, 1e-5)
[t, y] = ode15s(robertson, g.decades, [1,0,0], 1e-8, 1e-13)
check("differences", y, g.robertson, 1e-6)
[t, given] = ode15s(robertson, g.decades, [1,0,0], 1e-8, 1e-13, J := slopes)
check("differences with J", given, y, 1e-7)
[t, y] = ode15s(oscillator, g.times, [2,0], 1e-7, 1e-9)
check("differences of the oscillator", y[:,0], g.oscillator[:,0], 1e-4)
[t, y] = ode15s(driven, [0,2], 0, 1e-6, 1e-6, maxorder := 1)
[t, same] = ode15s(driven, [0,2], 0, 1e-6, 1e-6)
print size(y,0) > 3*size(same,0)
[t, y, te, ye] = ode15s((t, y) -> float64([y[1], -9.81]), [0,10], [10,0], 1e-8, 1e-9, (t, y) -> y[0])
print abs(te - sqrt(20/9.81)) < 1e-6, abs(ye[0]) < 1e-8, t[numel(t)-1] == te
[t, y] = ode15s((t, y) -> -t*y, [2,0], 1, 1e-8, 1e-9, null, 0.05)
print abs(y[numel(t)-1,0] - exp(2)) < 1e-5, max(abs(diff(t))) < 0.0501, all(diff(t) < 0)
% Events, descending times and the longest step.
[t, y, te, ye] = ode23s((t, y) -> float64([y[1], -9.81]), [0,10], [10,0], 1e-6, 1e-9, (t, y) -> y[0])
print abs(te - sqrt(20/9.81)) < 1e-9, abs(ye[0]) < 1e-9, t[numel(t)-1] == te
[t, y] = ode23s((t, y) -> -t*y, [2,0], 1, 1e-7, 1e-9, null, 0.05)
print abs(y[numel(t)-1,0] - exp(2)) < 1e-3, max(abs(diff(t))) < 0.0501, all(diff(t) < 0)
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
attempt(() -> ode23s((t, y) -> y, [0,1], [1,2], J := [1,2]))
attempt(() -> ode23s((t, y) -> y, [0,1], [1,2], J := "a"))
attempt(() -> ode23s((t, y) -> y, [0,1], [1,2], J := (t, y) -> 1i*eye(2)))
attempt(() -> ode23s((t, y) -> [1,2,3], [0,1], [1,2]))
attempt(() -> ode23s((t, y) -> y, [0,0], [1,2]))
attempt(() -> ode23s((t, y) -> y, [0,1], [1,2], -1))
attempt(() -> ode23s((t, y) -> y.^2, [0,2], 1))
attempt(() -> ode23s((t, y) -> y, [0,1], [1,2], event := (t, y) -> [1,2]))
attempt(() -> ode15s((t, y) -> y, [0,1], [1,2], J := [1,2]))
attempt(() -> ode15s((t, y) -> y, [0,1], [1,2], maxorder := 6))
attempt(() -> ode15s((t, y) -> y, [0,1], [1,2], maxorder := 1.5))
attempt(() -> ode15s((t, y) -> [1,2,3], [0,1], [1,2]))
attempt(() -> ode15s((t, y) -> y.^2, [0,2], 1))
