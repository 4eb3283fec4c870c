% halo: how far a kernel reads around its position, how it accesses its arguments, and why this may be unknown.
function [] = __kernel__ box(x : mat'mirror, y : mat, r : int, pos : ivec2)
    total = 0.0
    for m = -r..r
        for n = -2*r..1
            total += x[pos + [m,n]]
        end
    end
    y[pos] = total/(2*r+1)^2
end
function [] = __kernel__ gradient(x : cube, y : cube, pos : ivec3)
    y[pos] = x[pos+[0,0,1]] - x[pos-[3,0,0]]
end
function [] = __kernel__ filter(x : mat'circular, mask : vec, y : mat, lut : vec'unchecked, pos : ivec2)
    s = 0.0
    for k = 0..numel(mask)-1
        s += mask[k]*x[pos[0], pos[1]+k-(numel(mask)-1)/2] + lut[k]
    end
    y[pos] = s
end
function [] = __kernel__ colours(x : cube'clamped, y : mat, pos : ivec2)
    s = 0.0
    for c = 0..size(x,2)-1
        s += x[pos[0], max(pos[1]-1, pos[1]-5), c]
    end
    y[pos] = s
end
function [] = __kernel__ stepped(x : vec'clamped, y : vec, pos : int)
    at = pos
    if x[pos] > 0
        at = pos - 4
    end
    y[pos] = x[at] + y[pos]
end
function [] = __kernel__ untyped(x, y, pos)
    y[pos] = x[pos[0]+1, pos[1]]
end

print halo(gradient), " ", halo(gradient, zeros(4,4,4))
[n, how] = halo(box, null, null, 3)
print n, " ", how
[n, how] = halo(filter, null, ones(1,7))
print n, " ", how
[n, how] = halo(colours)
print n, " ", how
[n, how] = halo(stepped)
print n, " ", how
[n, how] = halo(untyped, zeros(3,3), zeros(3,3))
print n, " ", how

% -- reasons why it is unknown
function [] = why(f, args)
    try
        print apply(halo, vertcat({f}, args))
    catch e
        print e
    end
end
function [] = __kernel__ warp(x : mat, d : mat, y : mat, pos : ivec2)
    y[pos] = x[pos[0], pos[1]+d[pos]]
end
function [] = __kernel__ table(x : vec, i : vec[int], y : vec, pos : int)
    y[pos] = x[i[pos]]
end
function [] = __kernel__ turned(x : mat, y : mat, pos : ivec2)
    y[pos] = x[pos[1], pos[0]]
end
function [] = __kernel__ sum_of(x : vec, y : vec, pos : int)
    y[0] += x[pos]
end
function [] = __kernel__ shifted(x : vec, y : vec, pos : int)
    y[pos+1] = x[pos]
end
function [] = __kernel__ in_place(x : vec, pos : int)
    x[pos] = x[pos-1]
end
function [] = __kernel__ rows(x : mat, y : mat, pos : ivec2)
    s = 0.0
    for k = 0..size(x,1)-1
        s += x[pos[0],k]
    end
    y[pos] = s
end
function [] = __kernel__ border(x : vec, y : vec, pos : int)
    y[pos] = pos > 0 ? x[pos-1] : 0
end
function [] = __kernel__ ramp(x : vec, y : vec, pos : int)
    y[pos] = x[pos]*pos
end
function [] = __kernel__ share(x : vec, y : vec, pos : int)
    y[pos] = x[pos]/numel(x)
end
function [] = __kernel__ search(x : vec'clamped, y : vec, pos : int)
    at = pos
    while x[at] > 0
        at -= 1
    end
    y[pos] = at
end
function [] = __kernel__ twice(x : vec, y : vec, pos : int)
    y[pos] = x[2*pos]
end
function [] = __kernel__ both(x : vec, y : vec, pos : int)
    y[pos] = x[pos] + x[0]
end
function [] = __kernel__ half(x : vec, y : vec, pos : int)
    y[pos] = x[pos-int(numel(x)/2)]
end
function [] = __kernel__ chosen(x : vec, y : vec, pos : int)
    y[pos] = x[pos > 2 ? pos-1 : pos]
end
function [] = __kernel__ together(x : vec, y : vec, pos : int, blkpos : int)
    s = shared(64)
    s[blkpos] = x[pos]
    syncthreads
    y[pos] = s[0]
end
function y = host(x)
    y = x
end
% functions: the combined reads of the kernels that they launch in sequence
function y = smoothed(x, r, times)
    for i = 1..times
        y = uninit(size(x))
        parallel_do(size(x), x, y, r, box)
        x = y
    end
end
function y = mixed(x)
    y = smoothed(x, 1, 1)
    parallel_do(numel(x), ones(1,9), zeros(1,9), stepped)
end
function y = counted(x)
    y = zeros(1,4)
    parallel_do(numel(x), x, y, sum_of)
end
function y = nested(x)
    halo(smoothed, x, 5, 2)             % is another question
    y = smoothed(x, 1, 1)
end
function y = wrapped(x)
    y = zeros(size(x))
    parallel_do(size(x), x, [1,2,3], y, [1,2,3], filter)
end
[n, how, y] = halo(smoothed, zeros(9,9), 2, 3)
print n, " ", how, " ", size(y)
print halo(nested, zeros(9,9)), " ", halo((x, r) -> smoothed(x, r, 1), zeros(9,9), 4), " ", numel(halo(host, 1))
[n, how] = halo(wrapped, zeros(9,9))
print n, " ", how
why(smoothed, {zeros(9,9), 2, 0, 1})
why(mixed, {zeros(9,9)})
why(counted, {ones(1,9)})
why(x -> error("of its own"), {1})
smoothed(zeros(9,9), 2, 1)               % nobody asks any more
why(box, {})
why(filter, {})
why(untyped, {})
why(box, {null, null, 1, 2})
why(half, {zeros(1,8)})
for f = {warp, table, turned, sum_of, shifted, in_place, rows, border, ramp, share, search, twice, both, half, chosen, together, 3}
    why(f, {})
end
