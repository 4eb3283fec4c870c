% The size of a local array or slice may depend on arguments: the kernel is compiled for their values.
function [] = __kernel__ table(y : mat, wnd : ivec2, pos : ivec2)
    z = zeros(wnd)
    for [i,j] = 0..wnd-1
        z[i,j] = i*10+j
    end
    y[pos] = z[pos[0],pos[1]] + sum(wnd)
end
function [] = __kernel__ ones_in(y : mat, wnd, pos : ivec2)
    z = zeros(wnd)
    z[pos[0],pos[1]] = 1
    y[pos] = sum(z)
end
function [] = __kernel__ channels(x : cube, y : cube, pos : ivec2)
    y[pos[0],pos[1],:] = x[pos[0],pos[1],:]/max(x[pos[0],pos[1],:])
end
function [] = __kernel__ median_of(x : vec'mirror, y : vec, n, pos : int)
    v = x[pos-n..pos+n]
    for i=0..2*n
        for j=0..2*n-1
            if v[j] > v[j+1]
                t = v[j]
                v[j] = v[j+1]
                v[j+1] = t
            end
        end
    end
    y[pos] = v[n]
end
y = zeros(3,4)
parallel_do(size(y), y, [2,3], table)
print y
parallel_do(size(y), y, [2,3], ones_in)
print y
parallel_do(size(y), y, [3,3], ones_in)
print y
x = ones(1,2,2)
x[0,:,1] = [2,4]
c = zeros(size(x))
parallel_do(size(x,0..1), x, c, channels)
print c
x = ones(1,1,3)
x[0,0,:] = [1,2,4]
c = zeros(size(x))
parallel_do(size(x,0..1), x, c, channels)
print c
v = [5,1,4,2,3,9]
w = zeros(6)
for n = 1..2
    parallel_do(6, v, w, n, median_of)
    print w
end
