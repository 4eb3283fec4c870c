% 'reflect mirrors without the element at the edge, at any distance: kernels, device functions, locals, host, loops.
function k = image_of(i, n)
    period = max(2*n-2, 1)
    k = abs(mod(i, period))
    k = k < n ? k : period - k
end
function [] = __kernel__ window(x : mat'reflect, y : mat, a : int, b : int, pos : ivec2)
    s = 0.0
    for m = -a..a
        for n = -b..b
            s += (1 + m + 3*n + m*n)*x[pos + [m,n]]
        end
    end
    y[pos] = s
end
function [] = __kernel__ small(x : mat'reflect, y : mat, pos : ivec2)
    y[pos] = x[pos-[1,2]] + 2*x[pos+[2,1]] - 3*x[pos[0]-2,pos[1]] + 5*x[pos[0],pos[1]+1]
end
function [] = __kernel__ bytes(x : mat[uint8]'reflect, y : mat[int], pos : ivec2)
    y[pos] = x[pos-[1,2]] + 2*x[pos+[2,1]]
end
function y = __device__ typed(x : vec'reflect, i : int)
    y = x[i]
end
function [] = __kernel__ places(x : vec, y : mat, pos : int)
    w : vec'reflect = x
    y[0,pos] = typed(x, pos-4)
    y[1,pos] = w[pos-4]
    y[2,pos] = w[floor(pos-4.5)]
end
function [] = __kernel__ scatter(y : mat'reflect, pos : ivec2)
    y[pos-[1,2]] += 1
    y[pos+[2,1]] += 2
end
function [] = __kernel__ patch(x : mat'reflect, y : mat, pos : ivec2)
    y[pos] = sum(x[pos[0]-1..pos[0]+1, pos[1]-1..pos[1]+1])
end

for s = {[1,1], [1,2], [2,1], [2,3], [3,5], [7,9], [40,70]}
    x = reshape(mod((0..prod(s)-1).^2, 31), s)
    padded = (a, b) -> x[image_of(-a..s[0]-1+a, s[0]), image_of(-b..s[1]-1+b, s[1])]
    for r = {[1,2], [3,3], [2,11]}
        p = padded(r[0], r[1])
        want = zeros(s)
        for m = -r[0]..r[0]
            for n = -r[1]..r[1]
                want += (1 + m + 3*n + m*n)*p[r[0]+m..r[0]+m+s[0]-1, r[1]+n..r[1]+n+s[1]-1]
            end
        end
        y = zeros(s)
        parallel_do(s, x, y, r[0], r[1], window)
        assert(isequal(y, want), "window ", s, r)
    end
    p = padded(2, 2)
    at = (m, n) -> p[2+m..1+m+s[0], 2+n..1+n+s[1]]
    y = zeros(s)
    parallel_do(s, x, y, small)
    assert(isequal(y, at(-1,-2) + 2*at(2,1) - 3*at(-2,0) + 5*at(0,1)), "small ", s)
    y = mat[int](s[0], s[1])
    parallel_do(s, uint8(x), y, bytes)
    assert(isequal(y, int(at(-1,-2) + 2*at(2,1))), "bytes ", s)
    y = zeros(s)
    parallel_do(s, x, y, patch)
    want = zeros(s)
    for m = -1..1
        for n = -1..1
            want += at(m,n)
        end
    end
    assert(isequal(y, want), "patch ", s)
    y = zeros(s)
    parallel_do(s, y, scatter)
    want = zeros(s)
    for m = 0..s[0]-1
        for n = 0..s[1]-1
            want[image_of(m-1,s[0]), image_of(n-2,s[1])] += 1
            want[image_of(m+2,s[0]), image_of(n+1,s[1])] += 2
        end
    end
    assert(isequal(y, want), "scatter ", s)
    z : mat'reflect = x
    assert(isequal(z[-5..s[0]+6, -7..s[1]+4], x[image_of(-5..s[0]+6, s[0]), image_of(-7..s[1]+4, s[1])]), "host ", s)
    total = 0.0
    want = 0.0
    for i = -9..s[0]+9
        total += (i+20)*z[i,i]
        want += (i+20)*x[image_of(i,s[0]),image_of(i,s[1])]
    end
    assert(total == want, "loop ", s)
end
y = zeros(3,6)
parallel_do(6, [1,2,3], y, places)
print y
v : vec'reflect = [1,2,3]
v[-1] = 7
v[3] += 10
print v, " ", v[-1e18], " ", v[1e18], " ", type(v)
