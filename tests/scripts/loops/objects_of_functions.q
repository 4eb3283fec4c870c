% options: --loops always
% Functions inside loops return objects: items with a fixed index, captured objects, one of two arguments.
type server : mutable class
    busy : scalar
    served : int
end
type spot : class
    x : scalar
end
function s = pick(servers)
    s = servers[0]
    for k = 1..numel(servers)-1
        if servers[k].busy < s.busy
            s = servers[k]
        end
    end
end
function s = later(a : server, b : server)
    s = a
    if b.busy > a.busy
        s = b
    end
end
function s = first_above(spots, least)
    for p in spots
        if p.x > least
            s = p
            return
        end
    end
    s = spots[0]
end
function [] = serve(self : server, need)
    self.busy += need
    self.served += 1
end
function total = run(servers, spots, n)
    total = 0
    for k = 1..n
        s = pick(servers)
        s.serve(3 + mod(k, 5))
        t = later(servers[1], s)
        t.busy += 0.25
        total += t.served + first_above(spots, mod(k, 4)).x
    end
end
servers = {server(busy:=2, served:=0), server(busy:=0, served:=1), server(busy:=1, served:=2)}
spots = {spot(x:=0.5), spot(x:=1.5), spot(x:=2.5)}
print run(servers, spots, 40)
for s in servers
    print s.busy, " ", s.served
end
spare = servers[2]
for k = 1..20
    last = spare
    if mod(k, 3) == 0
        last = pick(servers)
    end
    last.busy += k
end
print last.busy, " ", spare.busy, " ", last.served
