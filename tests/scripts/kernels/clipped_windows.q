% Windows that the ends of an array clip, with radii that the kernel knows and that the launch gives, in loops that run up
% and down, beside windows of an array with an access mode.
function [] = __kernel__ by_mode(x : mat'safe, y : mat, r : int, pos : ivec2)
    s = 0.0
    for k = -r..r
        for l = -r..r
            s += x[pos[0]+k, pos[1]+l]
        end
    end
    y[pos] = s
end
function [] = __kernel__ unclipped(x : mat'safe, y : mat, r : int, pos : ivec2)
    s = 0.0
    for k = pos[0]-r..pos[0]+r
        for l = pos[1]+r..-1..pos[1]-r
            s += x[k,l]
        end
    end
    y[pos] = s
end
function [] = __kernel__ clipped(x : mat, y : mat, r : int, pos : ivec2)
    s = 0.0
    for k = max(0,pos[0]-r)..min(size(x,0)-1,pos[0]+r)
        for l = min(size(x,1)-1,pos[1]+r)..-1..max(pos[1]-r,0)
            s += x[k,l]
        end
    end
    y[pos] = s
end
function [] = __kernel__ clipped_by_two(x : mat, y : mat, n : int, m : int, pos : ivec2)
    s = 0.0
    for k = max(0,pos[0]-2)..min(n-1,pos[0]+2)
        for l = max(0,pos[1]-2)..min(m-1,pos[1]+2)
            s += x[k,l]
        end
    end
    y[pos] = s
end
function [] = __kernel__ clamped(x : mat, y : mat, r : int, pos : ivec2)
    s = 0.0
    for k = -r..r
        s += x[min(max(pos[0]+k,0),size(x,0)-1), max(min(pos[1]-k,size(x,1)-1),0)] + x[pos[0],max(0,pos[1]-1)]
    end
    y[pos] = s
end
function [] = __kernel__ clamped_by_mode(x : mat'clamped, y : mat, r : int, pos : ivec2)
    s = 0.0
    for k = -r..r
        s += x[pos[0]+k, pos[1]-k] + x[pos[0],pos[1]-1]
    end
    y[pos] = s
end
function ok = check(n, m, r)
    x = mod(reshape((0..n*m-1)*37, [n,m]), 101) - 40
    [y, z] = [zeros(n, m), zeros(n, m)]
    parallel_do(size(y), x, y, int(r), by_mode)
    parallel_do(size(z), x, z, int(r), unclipped)
    ok = max(abs(y-z)) == 0
    parallel_do(size(z), x, z, int(r), clipped)
    ok = ok && max(abs(y-z)) == 0
    if r == 2
        parallel_do(size(z), x, z, int(n), int(m), clipped_by_two)
        ok = ok && max(abs(y-z)) == 0
    end
    parallel_do(size(y), x, y, int(r), clamped)
    parallel_do(size(z), x, z, int(r), clamped_by_mode)
    ok = ok && max(abs(y-z)) == 0
end
for r in [-1, 0, 1, 2, 3, 7]
    print r, ": ", check(2, 3, r), check(9, 66, r), check(20, 9, r)
end
print check(9, 20, 40)
