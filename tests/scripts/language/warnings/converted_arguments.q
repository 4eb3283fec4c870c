% A parameter with another element type gets a converted copy: a write to it, which the caller does not see, is reported.
function [] = set_first(x : vec)
    x[0] = 5
end
function [] = scale(x : vec, factor)
    for i = 0..numel(x)-1
        x[i] *= factor; text = "not compiled"
    end
end
function [] = set_row(x : mat)
    row = x[0,:]
    y = x
    y[:,0] = 7
end
function [] = outer(x : vec)
    set_first(x)
end
function [] = __kernel__ fill(x, pos : int)
    x[pos] = 2
end
function [] = launch(x : vec)
    parallel_do(numel(x), x, fill)
end
function [] = rename(c : vec[string])
    c[0] = "z"
end
function y = zeroed(x : vec)
    x[0] = 0
    y = x
end
function y = same(x : vec)
    y = x
end
function y = doubled(x : vec)
    x = 2*x
    x[0] = 1
    y = x
end
function [] = untyped(x)
    x[0] = 5
end
function [] = of_floats(x : vec)
    x[0] = 5
end
function [] = renamed(x : vec)
    y = x
    x = 0
    y[0] = 5
end
function g = writer(x : vec)
    g = () -> x[0] = 5
end
function y = twice_as_large(x : vec)
    x = x*2
    x[0] = 1
    y = x
end

a = int([1,2,3])
set_first(a)
print a
scale(a, 2)
print a
m = int([[1,2],[3,4]])
set_row(m)
print m
outer(a)
launch(a)
print a
renamed(a)
g = writer(a)
g()
print a
names : cell = {"a","b"}
rename(names)
print names

% Not reported: the copy of a temporary array, a copy that was returned, a variable that is assigned again, arrays that are not converted.
print zeroed(int([1,2,3])), zeroed(-(1..3))
b = same(a)
b[0] = 9
print a, b, doubled(a), twice_as_large(a)
untyped(a)
print a
f = float64([1,2,3])
of_floats(f)
print f

% Integers that float32 does not hold
function y = first(x : vec)
    y = x[0]
end
print first(int([16777216, -16777216, 2^30]))
print first(int([16777217, 1]))
v : vec = int64([2^40+1, 1])
w : vec = uint64([18446744073709551615])
u : vec[float64] = int64([2^40+1, 1])
print float32(int([16777217]))
