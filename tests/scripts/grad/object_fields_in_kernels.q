type part : mutable class
    pos : vec3
    m : scalar
end
function [] = __kernel__ k(p : part, x : vec, pos : int)
    p.m += x[pos]*x[pos]
end
function [] = __kernel__ set_all(p : part, x : vec, pos : int)
    p.pos = [x[0],2*x[1],x[0]*x[1]]
end
function [] = __kernel__ step(p : vec[part], x : vec, pos : int)
    p[pos].m = x[pos]^3
    p[pos].pos += [x[pos],0,0]
    p[pos].pos[1] = x[pos]^2
end
function y = f(x)
    p = part(m:=1)
    parallel_do(2, p, x, k)
    parallel_do(1, p, x, set_all)
    y = p.m + 10*sum(p.pos)
end
function y = g(x)
    ps = {part(m:=1), part(m:=2)}
    parallel_do(2, ps, x, step)
    y = ps[0].m + 10*ps[1].m + 100*sum(ps[0].pos) + 1000*sum(ps[1].pos)
end
print grad(f, [3,4])
print grad(g, [3,4])
