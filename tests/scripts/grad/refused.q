% A launch without a derivative is an error with a source location, never a wrong value.
function [] = attempt(name, f, x)
    try
        print name, ": ", grad(f, x)
    catch e
        print name, ": ", e
    end
end

function [] = __kernel__ square(x : vec, y : vec, pos : int)
    y[pos] = x[pos]^2
end
function s = one_array(x)
    y = copy(x)
    parallel_do(numel(x), y, y, square)
    s = sum(y)
end
attempt("two names", one_array, [1,2,3])

function [] = __kernel__ sized(x : vec, n : scalar, y : vec, pos : int)
    t = vec(n)
    t[0] = x[pos]*n
    y[pos] = t[0]
end
function s = sizes(n)
    y = zeros(2)
    parallel_do(2, [1,2], n, y, sized)
    s = sum(y)
end
attempt("a size", sizes, 3)
attempt("the same, told to be constant", n -> n*sizes(stop_gradient(n)), 3)

function [] = __kernel__ outside(x : vec'checked, y : vec, pos : int)
    y[pos] = x[pos+1]
end
function s = fails(x)
    y = zeros(3)
    parallel_do(3, x, y, outside)
    s = sum(y)
end
attempt("a fault", fails, [1,2,3])

function s = loop_fails(x)
    s = 0
    for k = 0..3
        s += x[k]^2
    end
end
attempt("an index", loop_fails, [1,2,3])

function r = listed(x)
    r = {x*x, x}
end
attempt("a list", x -> checkpoint(listed)(x)[0], 3)
try
    [y, pull] = vjp(listed, 3)
catch e
    print "vjp of a list: ", e
end

% rematerialized code must read the same values in the backward pass
scale = [2.0,3.0]
scaled = checkpoint(x -> sum(scale*x))
function s = changed(x)
    s = scaled(x)
    scale[0] = 2.5
end
attempt("changed in between", changed, 3)
attempt("not changed in between", scaled, 3)
function [a, b] = both(x)
    a = x
    b = x*x
end
try
    print checkpoint(both)(3)
catch e
    print e
end

% a rule is followed outside of kernels
{!adjoint cube_rule}
function y = cube(x)
    y = x*x*x
end
function dx = cube_rule(x, y, dy)
    dx = 1000*dy
end
function [] = __kernel__ cubes(x : vec, y : vec, pos : int)
    y[pos] = cube(x[pos])
end
function s = cubed(x)
    y = zeros(size(x))
    parallel_do(size(x), x, y, cubes)
    s = sum(y)
end
attempt("a rule in a kernel", cubed, [1,2,3])
function s = cubed_in_turn(x)
    s = 0.0
    for i = 0..numel(x)-1
        s += cube(x[i])
    end
end
attempt("a rule in a loop", cubed_in_turn, [1,2,3])

% user-defined adjoints must have the sizes of the arguments; the rule and its function must return all named results
{!adjoint area_rule}
function y = area(w, s)
    y = sum(w)*s
end
function [dw, ds] = area_rule(w, s, y, dy)
    dw = s*dy
    ds = [1,1]*sum(w)*dy
end
{!adjoint both_rule}
function [y, z] = half_of_both(x)
    y = x^2
end
function dx = both_rule(x, y, z, dy, dz)
    dx = 2*x*dy
end
{!adjoint late_rule}
function y = late(a, b)
    y = a*b
end
function [da, db] = late_rule(a, b, y, dy)
    db = a*dy
end
attempt("a number for a vector", w -> area(w, 2), [1,2,3])
attempt("a vector for a number", s -> area([1,2,3], s), 2)
attempt("a result that is not set", half_of_both, 3)
attempt("an adjoint that is not set", b -> late(2, b), 3)

% nor may the arguments of a rule change, by whatever path
function [] = __kernel__ inc(a : vec, pos : int)
    a[pos] += 1
end
{!adjoint by_operator}
function y = squared_1(a)
    y = a.*a
end
function da = by_operator(a, y, dy)
    a += 1
    da = 2*a.*dy
end
{!adjoint by_kernel}
function y = squared_2(a)
    y = a.*a
end
function da = by_kernel(a, y, dy)
    parallel_do(numel(a), a, inc)
    da = 2*a.*dy
end
{!adjoint by_loop}
function y = squared_3(a)
    y = a.*a
end
function da = by_loop(a, y, dy)
    for i = 0..numel(a)-1
        a[i] = 5
    end
    da = 2*a.*dy
end
for libraries = {"never", "always"}
    setenv("QUASAR_LIBRARIES", libraries)
    attempt("written by an operator", a -> sum(squared_1(a*1)), [1,2,3])
    attempt("written by a kernel", a -> sum(squared_2(a*1)), [1,2,3])
    attempt("written by a loop", a -> sum(squared_3(a*1)), ones(20000))
end
setenv("QUASAR_LIBRARIES", "")

% memory that two arrays share must not be written
function s = base_of_a_view(x)
    a = x.*x
    v = reshape(a, 3, 2)
    a *= 2
    s = sum(v)
end
function s = parts(x)          % these are copies, in a derivative and without
    a = x.*x
    v = a[0,:]
    w = transpose(a)
    a[0,1] = x[1,1]
    a *= 2
    v *= 3
    s = sum(v.*v) + sum(w.*w) + sum(a)
end
attempt("an array with another shape", base_of_a_view, float64([[1,2,3],[4,5,6]]))
print "parts: ", gradcheck(parts, float64([[1,2,3],[4,5,6]]))

% it is unknown how much a failed launch has written; a program that catches the error continues
function [] = __kernel__ stopping(x : vec, y : vec, pos : int)
    y[pos] = x[pos]^2
    if pos == 3
        error("no further")
    end
end
function y = caught(x)
    y = 2*x
    try
        parallel_do(numel(x), x, y, stopping)
    catch e
    end
end
function [y, t] = too_far(x)
    y = 2*x
    t = 0
    try
        for i = 0..numel(x)
            y[i] = x[i]^2
            t += x[i]
        end
    catch e
    end
end
function t = total(x)
    [y, t] = too_far(x)
end
attempt("a kernel that stops", x -> sum(caught(x)), [1,2,3,4,5])
attempt("unless nobody wants to know", x -> sum(x + 0*numel(caught(x))), [1,2,3])
% the iterations that a loop completed have a derivative
for n = [5,20000]
    x = 1 + (0..n-1)/n
    print "a loop that stops: ", max(abs(grad(x -> sum(too_far(x)), x) - 2*x)) < 1e-5
    print "its sum: ", max(abs(grad(total, x) - 1)) < 1e-5
end
print "forward: ", attempt_forward(x -> sum(caught(x)), [1,2,3,4,5])
function why = attempt_forward(f, x)
    why = "nothing"
    try
        [y, dy] = jvp(f, x, x)
    catch e
        why = e
    end
end
