% devices: ref cpu
% Near the ends of rows kernels read from copies of their surroundings if the distance is known when they are
% compiled; if it is an argument, they read the array itself.  The values are integral, so that every sum is exact.
function [] = __kernel__ mirrored(x : mat'mirror, y : mat, pos : ivec2)
    s = 0.0
    for m = -2..3
        for n = -5..1
            s += (m+2*n)*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s
end
function [] = __kernel__ mirrored_r(x : mat'mirror, y : mat, a : int, b : int, c : int, d : int, pos : ivec2)
    s = 0.0
    for m = a..b
        for n = c..d
            s += (m+2*n)*x[pos[0]+m, pos[1]+n]
        end
    end
    y[pos] = s
end

% No loops, and a pad for each of two arrays.
function [] = __kernel__ crossed(x : mat'circular, z : mat'safe, y : mat, pos : ivec2)
    y[pos] = x[pos[0]-1, pos[1]+1] - 2*x[pos] + 3*z[pos[0]+4, pos[1]-9] + pos[1]
end
function [] = __kernel__ crossed_r(x : mat'circular, z : mat'safe, y : mat, r : int, pos : ivec2)
    y[pos] = x[pos[0]-r, pos[1]+r] - 2*x[pos] + 3*z[pos[0]+4*r, pos[1]-9*r] + pos[1]
end

% Too much for straight-line code, with a branch; the array's rows may differ in length from the rows of the launch.
function [] = __kernel__ compared(x : mat'clamped, y : mat, w : vec, pos : ivec2)
    s = 0.0
    for m = -3..3
        for n = -4..4
            d = 0.0
            for p = -1..1
                e = x[pos[0]+m+p, pos[1]+n] - x[pos[0], pos[1]+p]
                d += e*e
            end
            if d > 500
                s += w[m+3] + n
            end
        end
    end
    y[pos] = s
end
function [] = __kernel__ compared_r(x : mat'clamped, y : mat, w : vec, r : int, pos : ivec2)
    s = 0.0
    for m = -3*r..3*r
        for n = -4*r..4*r
            d = 0.0
            for p = -r..r
                e = x[pos[0]+m+p, pos[1]+n] - x[pos[0], pos[1]+p]
                d += e*e
            end
            if d > 500
                s += w[m+3] + n
            end
        end
    end
    y[pos] = s
end

function [] = __kernel__ bytes(x : mat[uint8]'mirror, y : mat[uint8], pos : ivec2)
    n = 0
    for dm = -1..1
        for dn = -3..3
            n += x[pos + [dm,dn]]
        end
    end
    y[pos] = floor(n/21)
end
function [] = __kernel__ bytes_r(x : mat[uint8]'mirror, y : mat[uint8], r : int, pos : ivec2)
    n = 0
    for dm = -r..r
        for dn = -3*r..3*r
            n += x[pos + [dm,dn]]
        end
    end
    y[pos] = floor(n/21)
end

function [] = same(what, a, b)
    if any(a != b)
        printf("%s of %d x %d: %d differ", what, size(a, 0), size(a, 1), sum(a != b))
    endif
end

function [] = main()
    for h = [1, 17, 33]
        for w = [1, 31, 32, 33, 65]
            x = mod(transpose(0..h-1)*7919 + ones(h,1)*(0..w-1)*104729, 29)
            z = x[:, w-1..-1..0]
            u = uninit(h, w)
            v = uninit(h, w)
            parallel_do(size(u), x, u, mirrored)
            parallel_do(size(v), x, v, -2, 3, -5, 1, mirrored_r)
            same("mirrored", u, v)
            parallel_do(size(u), z, u, mirrored) % a view that runs backwards
            parallel_do(size(v), z, v, -2, 3, -5, 1, mirrored_r)
            same("mirrored view", u, v)
            parallel_do(size(u), x, z, u, crossed)
            parallel_do(size(v), x, z, v, 1, crossed_r)
            same("crossed", u, v)
            parallel_do(size(u), x, u, 0..6, compared)
            parallel_do(size(v), x, v, 0..6, 1, compared_r)
            same("compared", u, v)
            u = zeros(h+3, w+20) % beyond the array's edges
            v = zeros(h+3, w+20)
            parallel_do(size(u), x, u, 0..6, compared)
            parallel_do(size(v), x, v, 0..6, 1, compared_r)
            same("compared beyond", u, v)
            parallel_do([h, min(w, 40)], x, u, 0..6, compared) % and not up to them
            parallel_do([h, min(w, 40)], x, v, 0..6, 1, compared_r)
            same("compared within", u, v)
            a = mat[uint8](h, w)
            b = mat[uint8](h, w)
            c = mat[uint8](h, w)
            a[:,:] = 9*x
            parallel_do(size(b), a, b, bytes)
            parallel_do(size(c), a, c, 1, bytes_r)
            same("bytes", b, c)
        end
    end
    x = mod(transpose(0..19)*7919 + ones(20,1)*(0..39)*104729, 29)
    y = zeros(20, 40)
    parallel_do(size(y), x, y, mirrored)
    print y[7, [0, 1, 20, 38, 39]]
end
