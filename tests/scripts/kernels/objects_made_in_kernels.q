% Objects of mutable and immutable classes can be made, changed and passed on inside a kernel; they take no memory.
type ray : mutable class
    o : vec3
    d : vec3
    t : scalar = 1
end
type hit : class
    at : vec3
    n : int
end
type acc : mutable class
    sum : scalar
    count : int
end
function r = __device__ ray(p : ivec2)
    r = ray(o:=[p[0],p[1],0], d:=[0,0,1])
end
function p = __device__ point_at(self : ray, t)
    p = self.o + t*self.d
end
function [] = __device__ add(self : acc, x)
    if x > 1
        self.sum += x
        self.count += 1
    end
end
function h = __device__ trace(r : ray)
    h = hit(at:=r.point_at(2*r.t), n:=0)
    if r.o[1] > 1
        r.t = 5
    end
    h = hit(at:=r.point_at(r.t), n:=r.o[0])
end
function [] = __kernel__ render(img : cube, pos : ivec2)
    r = ray(pos)
    r.d = r.d*2
    r.d[0] = 0.5
    h = trace(r)
    img[pos[0],pos[1],:] = h.at + [0,0,100*h.n]
end
function [] = __kernel__ mean_above_1(x : mat, y : vec, pos : int)
    a = acc()
    for k=0..size(x,1)-1
        a.add(x[pos,k])
    end
    y[pos] = a.count == 0 ? -1 : a.sum/a.count
end
img = zeros(2,3,3)
parallel_do(size(img,0..1), img, render)
print img
y = zeros(3)
parallel_do(3, [[1,2,3],[0,1,1],[4,1,6]], y, mean_above_1)
print y
try
    parallel_do(3, y, __kernel__ (y : vec, pos : int) -> (h = hit(at:=[1,2,3], n:=1); h.n = 2))
catch e
    print e
end
