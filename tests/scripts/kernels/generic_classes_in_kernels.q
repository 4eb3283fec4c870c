type list[T] : mutable class
    items : vec[T]
    n : int
end
function y = get[T](l : list[T], i : int)
    y = l.items[i]
end
function y = __device__ dget[T](l : list[T], i : int)
    y = l.items[i]
end
function [] = __kernel__ k(l : list[scalar], y : vec, pos : int)
    y[pos] = l.items[pos] + l.n
end
function [] = __kernel__ ku(l, y : vec, pos : int)
    y[pos] = dget(l, pos)
end
l = list[scalar](items:=[1,2,3], n:=1)
y = zeros(3)
print get(l, 1)
parallel_do(3, l, y, ku)
print y
parallel_do(3, l, y, k)
print y
type pair[A,B] : mutable class
    a : A
    b : B
end
function y = __device__ total(self : pair[scalar,int])
    y = self.a + self.b
end
function [] = __device__ store[T](self : list[T], i : int, v : T)
    self.items[i] = v
    self.n += 1
end
function [] = __kernel__ k2[T](l : list[T], p : pair[scalar,int], y : vec, pos : int)
    l.store(pos, p.total() + dget(l, pos))
    y[pos] = l.items[pos]
end
function [] = __kernel__ k3(l : list[int], y : vec, pos : int)
    y[pos] = l.items[pos]
end
function [] = __kernel__ k4(y : vec, pos : int)
    q = pair[scalar,int](a:=pos, b:=2)
    y[pos] = q.total()
end
p = pair[scalar,int](a:=0.5, b:=3)
parallel_do(3, l, p, y, k2)
print y, l, p
try
    parallel_do(3, l, y, k3)
catch e
    print e.message
end
parallel_do(3, y, k4)
print y
function [] = __kernel__ k5(p : pair[scalar,int], pos : int)
    p.a = 2
    p.b += 1
end
parallel_do(4, p, k5)
print p
