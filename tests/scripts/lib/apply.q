function [] = attempt(f)
    try
        f()
    catch e
        print e
    end
end
function [a, b] = f(x, y, z = 9)
    a = x - y
    b = z
end
function y = count(...all)
    y = numel(all)
end
o = object()
o.z = 1
o.y = 5
[p, q] = apply(f, {7, 2})
print p, " ", q, " ", apply(f, [3,4]), " ", apply(f, {1}, o), " ", apply(() -> 6), " ", apply(count, []), apply(count, {1,"a",{}}), apply(max, [2,5])
[p, q] = apply(f, {8}, o)
print p, " ", q, " ", apply(x -> x.*x, {[1,2]}), " ", apply(printf, {"%d-%s", 3, "x"})
attempt(() -> apply(f, {1}))
attempt(() -> apply(f, {1,2,3,4}))
attempt(() -> apply(f, "ab"))
attempt(() -> apply(f, {1}, {2}))
attempt(() -> apply(3, {1}))
o.w = 1
attempt(() -> apply(f, {1}, o))
