function y = __device__ setit(v : vec)
    v[0] = 9
    y = 1
end
function y = __device__ outer(v)
    t = setit(v)
    v += 1
    y = v[1]
end
function y = __device__ own(v)
    v = 2*v
    v[0] = 9
    y = v[1]
end
function y = __device__ mixed(v, c)
    if c > 0
        v = 2*v
    end
    v[0] = 9
    y = v[1]
end
function [] = __device__ swap(v, i, j)
    t = v[i]
    v[i] = v[j]
    v[j] = t
end
function [] = __device__ sort3(v)
    for i = 0..1
        for j = 0..1-i
            if v[j] > v[j+1]
                swap(v, j, j+1)
            end
        end
    end
end
function y = __device__ two(a, b)
    a[0] = 5
    y = b[0]
end
function y = __device__ conv(v : ivec)
    v[0] = 5
    y = v[0]
end
type holder : mutable class
    v : vec3
end
function [] = __device__ fill(h : holder, x)
    for i = 0..2
        h.v[i] = x
    end
end
function y = __device__ all(pos)
    v = [1,2,3]
    t = setit(v)
    w = [1,2,3]
    t = outer(w)
    u = [1,2,3]
    t = own(u)
    a = [3+pos,1,2]
    sort3(a)
    b = int([4,5,6])
    t = conv(b)
    h = holder(v:=[1,2,3])
    t = setit(h.v)
    g = holder()
    fill(g, pos)
    big = zeros(100)
    big[50+pos] = 1
    t = setit(big)
    y = [v[0],v[1], w[0],w[1],w[2], u[0],u[1], a[0],a[1],a[2], b[0], h.v[0], g.v[2], big[0], big[50]]
end
function [] = __kernel__ k(y : mat, pos : int)
    y[pos,:] = all(pos)
end
function [] = __kernel__ k2(y : vec, pos : int)
    v = [1,2,3]
    y[pos] = mixed(v, pos) + v[0]
end
function [] = __kernel__ k3(y : vec, pos : int)
    v = [1,2,3]
    y[pos] = two(v, v)
end
y = zeros(2,15)
parallel_do(2, y, k)
for i=0..1
    print y[i,:]
    print all(i)
end
try
    parallel_do(2, zeros(3), k2)
catch e
    print e.message
end
try
    parallel_do(2, zeros(3), k3)
catch e
    print e.message
end
function [] = __kernel__ inner(v : vec, pos : int)
    v[pos] = 9
end
function [] = __kernel__ launches(y : vec, pos : int)
    v = [1,2,3]
    serial_do(2, v, inner)
    y[pos] = v[0]
end
try
    parallel_do(2, zeros(3), launches)
catch e
    print e.message
end
% an operand that is a variable is read after the calls in later operands
function y = __device__ bump(v)
    v[0] += 1
    y = v[0]
end
function y = __device__ both(a, b)
    y = a[0] + 10*b
end
function [] = __kernel__ operands(x : mat, pos : int)
    v = [1,2,pos]
    t = v + bump(v)
    w = [1,2,pos]
    x[pos,0..3] = [t[0], t[2], v[0], both(w, bump(w))]
end
x = zeros(3,4)
parallel_do(3, x, operands)
for k = 0..2
    v = [1,2,k]
    t = v + bump(v)
    w = [1,2,k]
    assert(norm(x[k,:] - [t[0], t[2], v[0], both(w, bump(w))]) == 0, "operands: ", x[k,:])
end
% and so is a variable that is updated in place
function y = __device__ updated(n)
    v = [1,2,n]
    v += [0,bump(v),3]
    w = [1,2,n]
    w -= [1,bump(w),0].*w
    y = v[0] + 10*v[1] + 100*v[2] + 1000*w[0] + 10000*w[1] + 100000*w[2]
end
function [] = __kernel__ updates(x : vec, pos : int)
    x[pos] = updated(pos)
end
x = zeros(3)
parallel_do(3, x, updates)
for k = 0..2
    assert(x[k] == updated(k), "updates: ", x[k], " ", updated(k))
end
