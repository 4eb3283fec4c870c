% A random walk of a point.
type point : mutable class
    x : float64
    y : float64
end
type still : class
    x : float64
    y : float64
end
function [n] = inputs()
    n = 100000
end
function far = with_objects(n)
    p = point(x:=0, y:=0)
    seed = 1
    far = 0
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, 4294967296)
        d = floor(seed/1073741824)
        p = point(x:=p.x + (d == 0) - (d == 1), y:=p.y + (d == 2) - (d == 3))
        far = max(far, p.x^2 + p.y^2)
    end
end
function p = added(p : still, dx, dy)
    p = still(x:=p.x + dx, y:=p.y + dy)
end
function r = radius(p : still)
    r = p.x^2 + p.y^2
end
function far = with_function(n)
    p = still(x:=0, y:=0)
    seed = 1
    far = 0
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, 4294967296)
        d = floor(seed/1073741824)
        p = added(p, (d == 0) - (d == 1), (d == 2) - (d == 3))
        far = max(far, radius(p))
    end
end
function far = with_fields(n)
    p = point(x:=0, y:=0)
    seed = 1
    far = 0
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, 4294967296)
        d = floor(seed/1073741824)
        p.x += (d == 0) - (d == 1)
        p.y += (d == 2) - (d == 3)
        far = max(far, p.x^2 + p.y^2)
    end
end
function far = with_variables(n)
    x = 0
    y = 0
    seed = 1
    far = 0
    for i = 1..n
        seed = mod(1664525*seed + 1013904223, 4294967296)
        d = floor(seed/1073741824)
        x += (d == 0) - (d == 1)
        y += (d == 2) - (d == 3)
        far = max(far, x^2 + y^2)
    end
end
