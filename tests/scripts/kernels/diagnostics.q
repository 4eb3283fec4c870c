% The messages for a kernel that cannot be compiled: the kernel, the variable, the types.
function [] = show(f)
    try
        f()
    catch e
        print e
    end
end
function [] = __kernel__ early(y : vec, pos : int)
    y[pos] = z
    z = 1
end
function [] = __kernel__ two_types(y : vec, pos : int)
    v = [1,2]
    if pos > 0
        v = [1,2,3]
    end
    y[pos] = v[0]
end
function [] = __kernel__ third(x : mat, pos : ivec2)
    x[pos[0],pos[1],1] = 1
end
function [] = __kernel__ one_index(x : mat, pos : int)
    x[pos] = 1
end
function [] = __kernel__ whole(x : mat, pos : ivec2)
    x += 1
end
function [] = __kernel__ prints(pos : int)
    s = sprintf("no")
end
function [] = __kernel__ catches(pos : int)
    try
        a = 1
    catch e
        a = 2
    end
end
function [] = __kernel__ product(y : vec, pos : int)
    y[pos] = sum([1,2,3]*[4,5,6])
end
function [] = __kernel__ unknown_size(y : vec, pos : int)
    v = zeros(int(y[pos]))
end
function [] = __kernel__ outside(y : vec, pos : int)
    v = [1,2,3]
    y[pos] = v[3]
end
function [] = __kernel__ swap(a : vec, b : vec, pos : int)
    for i=0..3
        t = a
        a = b
        b = t
    end
    a[pos] = 1
end
function [] = __kernel__ field(o, pos : int)
    o.x = 1
end
type thing : mutable class
    x : scalar
end
function [] = __kernel__ cplx(y : vec, pos : int)
    y[pos] = (1+2j)*pos
end
function [] = __kernel__ text(y : vec, pos : int)
    y[pos] = "a" + 1
end
y = zeros(4)
m = zeros(2,2)
show(() -> parallel_do(4, y, early))
show(() -> parallel_do(4, y, two_types))
show(() -> parallel_do([2,2], m, third))
show(() -> parallel_do(4, m, one_index))
show(() -> parallel_do([2,2], m, whole))
show(() -> parallel_do(4, prints))
show(() -> parallel_do(4, catches))
show(() -> parallel_do(4, y, product))
show(() -> parallel_do(4, [1,2,3,4], unknown_size))
show(() -> parallel_do(4, y, outside))
show(() -> parallel_do(4, y, y, swap))
show(() -> parallel_do(4, thing(x:=1), field))
show(() -> parallel_do(4, y, cplx))
show(() -> parallel_do(4, y, text))
show(() -> parallel_do(4, m, early))
show(() -> parallel_do(4, {1,2}, early))
show(() -> parallel_do([2,2], y, early))
