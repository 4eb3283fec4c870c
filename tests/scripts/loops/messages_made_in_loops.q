% options: --loops always
% exit: 1
% error and assert with messages that are made from variables of the loop: the interpreter makes them.
function [y, last] = roots_of(x)
    y = zeros(numel(x))
    last = 0
    for i = 0..numel(x)-1
        if x[i] < 0
            error(f"x[{i}] is {x[i]}, after {last}")
        end
        y[i] = sqrt(x[i])
        last = y[i]
    end
end
function s = nested(A, most)
    s = 0
    for i = 0..size(A,0)-1
        for j = 0..size(A,1)-1
            t = A[i,j]*2
            assert(t <= most, "row ", i, " column ", j, ": ", t, " > ", most, ", sum ", s)
            s += t
        end
    end
end
function k = counted(x)
    k = 0
    while k < numel(x)
        v = x[k]
        if v == 7
            error("element %d is %d", k, v)
        end
        k += 1
    end
end
function y = state(x)
    y = zeros(numel(x))
    n = 0
    try
        for i = 0..numel(x)-1
            n = i
            y[i] = 1
            if x[i] > 5
                error("too large: ", x[i])
            end
            y[i] = 2
        end
    catch e
        print e, " n = ", n, " line ", e.line
    end
end
function m = inner(v, i)
    if v > 8
        error(f"value {v} at {i}")
    end
    m = v
end
function s = through(x)
    s = 0
    for i = 0..numel(x)-1
        s += inner(x[i], i)
    end
end
function [] = attempt(f)
    try
        print f()
    catch e
        print e, " (line ", e.line, ")"
    end
end
x = mod((0..19)*7, 10)
attempt(() -> roots_of(x))
x[11] = -3
attempt(() -> roots_of(x))
A = reshape(0..11, [3,4])
attempt(() -> nested(A, 100))
attempt(() -> nested(A, 12))
attempt(() -> counted([1,2,3]))
attempt(() -> counted([1,2,7,3]))
print state([1,2,3,9,1])
attempt(() -> through(0..9))
for i = 0..9
    z = i*i
    if z > 30
        error(f"at the top level: {i} {z}")
    end
end
