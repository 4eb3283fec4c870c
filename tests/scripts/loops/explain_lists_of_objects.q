% options: --explain --loops always
% exit: 3
% Loops over lists of objects are machine code, or the report has the reason.
type particle : mutable class
    x : scalar
    v : scalar
    name : string
    any
end
function [] = by_name(ps)
    for k = 0..numel(ps)-1
        p = ps[k]
        p.v -= p.x*0.5
        p.x += p.v*0.5
    end
end
function [] = by_index(ps)
    for k = 0..numel(ps)-1
        ps[k].x += ps[k].v
    end
end
function [] = by_item(ps)
    for p in ps
        p.x *= 2
    end
end
function s = with_name(ps)
    s = 0
    for p in ps
        s += p.any
    end
end
function [] = replaced(ps)
    for k = 1..numel(ps)-1
        ps[k] = ps[k-1]
    end
end
ps = {particle(x:=1, v:=2, any:=3), particle(x:=-1, v:=0.5, any:=4)}
by_name(ps)
by_index(ps)
by_item(ps)
print ps, with_name(ps)
replaced(ps)
print ps
exit(3)
