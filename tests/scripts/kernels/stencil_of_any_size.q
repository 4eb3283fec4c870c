% devices: ref cpu
% Neighbours read the same elements, so rows may be computed together; every extent, even the shortest, gives the
% result of computing one position after the other.
function [] = __kernel__ weighted(x : mat'clamped, y : mat, pos : ivec2)
    s = 0.0
    for m = -1..1
        for n = -2..2
            s += (m + 2*n + 7)*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = sqrt(s)/3
end

function [] = __kernel__ mirrored(x : mat'mirror, y : mat, pos : ivec2)
    y[pos] = x[pos[0]-2,pos[1]] + 2*x[pos[0],pos[1]-1] - x[pos[0]+3,pos[1]+1]
end

function [] = __kernel__ living(x : mat[bool]'circular, y : mat[bool], pos : ivec2)
    n = 0
    for dm = -1..1
        for dn = -1..1
            n += x[pos + [dm,dn]]
        end
    end
    y[pos] = n == 3 || (n == 4 && x[pos])
end

function [] = __kernel__ deep(x : cube'safe, y : cube, pos : ivec3)
    y[pos] = x[pos[0],pos[1]-1,pos[2]] + x[pos[0],pos[1]+1,pos[2]] - 4*x[pos[0]-1,pos[1],pos[2]+1]
end

function good = same(h, w)
    x = reshape(mod(37*(0..h*w-1), 101), [h,w])
    y = zeros(h,w)
    z = zeros(h,w)
    good = true
    for f = {weighted, mirrored}
        parallel_do([h,w], x, y, f)
        serial_do([h,w], x, z, f)
        good = good && isequal(y, z)
    end
    b = mat[bool](h,w)
    c = mat[bool](h,w)
    d = mat[bool](h,w)
    b[:,:] = x < 40
    parallel_do([h,w], b, c, living)
    serial_do([h,w], b, d, living)
    good = good && isequal(c, d)
    p = zeros(3,h,w)
    q = zeros(3,h,w)
    x = reshape(mod(31*(0..3*h*w-1), 103), [3,h,w])
    parallel_do([3,h,w], x, p, deep)
    serial_do([3,h,w], x, q, deep)
    good = good && isequal(p, q)
end

wrong = 0
for h = [1,2,3,4,5,8,33,40,41,60,61,62,63,64,65,100]
    for w = [1,2,5,16,20,31,32,33,35,36,38,65,68,100,128,129,131,257]
        if !same(h, w)
            wrong += 1
            print "wrong for ", h, " x ", w
        end
    end
end
print wrong
