type inner : mutable class
    w : scalar = 1
end
type part : mutable class
    pos : vec3
    vel : vec3
    m : scalar = 0.1
    n : int
    ok : int8
    items : vec
    body : inner
end
function [] = __kernel__ set_m(p : part, x : vec, pos : int)
    if pos == 1
        p.m = x[pos]
        p.pos = [4,5,6]
        p.body.w = 7
        p.ok = 300
    end
end
function [] = __kernel__ sum_m(p : part, x : vec, pos : int)
    p.m += x[pos]
    p.n += pos
    p.vel += [1,2,3]
    p.items[pos] = x[pos]
end
function [] = __kernel__ step(p : vec[part], dt : scalar, pos : int)
    p[pos].pos += dt*p[pos].vel
    p[pos].n += 1
    p[pos].vel[1] = -1
    q = p[pos]
    q.m = q.m + q.pos[0]
    q.m *= 2
end
function [] = __device__ move(self : part, d : scalar)
    self.pos = self.pos + d
end
function [] = __kernel__ step2(p : vec[part], dt : scalar, pos : int)
    p[pos].move(dt)
    if pos == 0
        p[2].m = 9
    end
end
function [] = main()
    p = part(pos:=[1,2,3],items:=zeros(4),body:=inner())
    old = p.pos
    x = [1,2,3,4]
    parallel_do(4,p,x,set_m)
    print p, old, " ", p.m
    parallel_do(4,p,x,sum_m)
    print p
    serial_do(4,p,x,sum_m)
    print p
    ps = vec[part](3)
    for i=0..2
      ps[i] = part(pos:=[i,2,3],vel:=[1,1,1])
    end
    v0 = ps[0].pos
    parallel_do(3,ps,0.5,step)
    for i=0..2
    print ps[i]
    end
    print v0
    parallel_do(3,ps,0.5,step2)
    for i=0..2
    print ps[i].pos, ps[i].m
    end
    print v0, 0.1 == part().m
end
