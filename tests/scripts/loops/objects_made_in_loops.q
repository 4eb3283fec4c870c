% options: --explain --loops always
% devices: cpu opencl
% exit: 3
% Loops make objects of classes whose fields are numbers; variables may share them, also after the loop.
type point : class
    x : float64 = 1
    y
end
type body : mutable class
    x : scalar
    n : int = 3
    on : bool = true
end
type counter : class
    n : uint8
end
function q : body = next(p : body, dx)
    q = body(x:=p.x + dx, n:=p.n + 1)
end
function [p, q, before] = walk(p, n)
    before = p
    q = p
    for k = 1..n
        before = p
        p = next(p, k*0.5)
        if mod(k, 3) == 0
            q = p
            q.x += 100
            p = copy(q)
        end
    end
end
function s = many(n)
    kept = body(x:=-1)
    s = 0
    for k = 1..n
        p = body(x:=k)
        if k == 2
            kept = p
        end
        s += p.x + p.n + kept.x
    end
end
function s = not_all_numbers(n)
    s = 0
    for k = 1..n
        p = point(y:="s")
        s += p.x
    end
end
[p, q, before] = walk(body(), 10)
print p.x, " ", p.n, " ", p.on, " ", q.x, " ", before.x
q.x = 5
print p.x, " ", before.x
[p, q, before] = walk(body(x:=2), 3)
q.x = 7
print p.x, " ", before.x
print many(2000)
print not_all_numbers(3)
c = counter(7)
try
    for k = 5..-1..-2
        before = c
        c = counter(n:=k*0.5)
    end
catch e
    print e
end
print c.n, " ", before.n, " ", k
exit(3)
