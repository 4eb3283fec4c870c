% Results computed from integers and truth values keep these types, in kernels as on the host, and so do slices: an
% element that is stored into keeps its type.  If paths merge, the path taken decides.
function v = __device__ stored(f, x, b)
    a = vec[int](2)
    a[0] = 200
    v = f(a, uint8(a), x, b)
    v[1] = x[2]
end
function [] = __kernel__ store(f, x : vec, b, y : vec, pos : int)
    y[0..1] = stored(f, x, b)
end
x = [1.5, -2.5, 300.75]
b = uint8([7, 8, 9])
function [] = keep(v, y)
    y[0] = v[0]
    y[1] = v[1]
end
function text = told(f)
    y = zeros(2)
    try
        f(y)
        text = sprintf("%g %g", y[0], y[1])
    catch e
        text = "error"
    end
end
ways = {(a, u, x, b) -> b[0..1], (a, u, x, b) -> b[[1,0]], (a, u, x, b) -> a + a, (a, u, x, b) -> u + u,
        (a, u, x, b) -> max(u, u), (a, u, x, b) -> a > 3, (a, u, x, b) -> int(x[0..1]), (a, u, x, b) -> -u,
        (a, u, x, b) -> +u, (a, u, x, b) -> shl(a, 1), (a, u, x, b) -> where(a > 3, u, u), (a, u, x, b) -> [u],
        (a, u, x, b) -> [a[0], a[1]], (a, u, x, b) -> a + 0.5, (a, u, x, b) -> x[0..1], (a, u, x, b) -> or(a > 3, a > 5),
        (a, u, x, b) -> -(a > 3), (a, u, x, b) -> mod(u, u + u + 1), (a, u, x, b) -> a./a}
for k = 0..numel(ways)-1
    f = ways[k]
    here = told(y -> parallel_do(1, f, x, b, y, store))
    host = told(y -> keep(stored(f, x, b), y))
    print k, here == host ? ": as on the host, " : ": not as on the host, ", here
end
% b: uint8, c: the path taken
function v = met(x, b, c)
    v = vec[int](2)
    if c > 0
        v = [0.5, 1.5]
    end
    v[1] = x[2]
end
function v = chosen(x, b, c)
    v = c > 0 ? b[0..1] : vec[int](2)
    v[1] = x[2]
end
function v = set_anew(x, b, c)
    v = b[0..1]
    for i = 0..1
        v = 0.5*v
        v[0] += 0.25
    end
end
function v = set_in_both(x, b, c)
    v = zeros(2)
    if c > 0
        v = b[0..1]
    else
        v = b[1..2]
    end
    v[0] = x[0]
    v[1] = x[2]
end
function v = left_early(x, b, c)
    v = x[0..1]
    for i = 0..3
        if i == c
            v = b[0..1]
            break
        end
        v[0] += 0.25
    end
    v[1] = x[2]
end
function v = copied(x, b, c)
    w = x[0..1]
    if c > 0
        w = b[0..1]
    end
    v = w
    w = x[0..1]
    v[1] = x[2]
end
function v = computed(x, b, c)
    w = x[0..1]
    if c > 0
        w = b[0..1]
    end
    v = w + w
    v[1] = x[2]
    w = max(w, w)
    w[0] = x[2]
    v += w
end
function v = truths(x, b, c)
    v = x[0..1]
    if c > 0
        v = x[0..1] > 0
    end
    v[1] = 1
end
function v = with_number(x, b, c)
    v = b[0] .* b[0..1]
    v[1] = x[2]
end
function [] = __kernel__ by_path(f, x : vec, b, y : vec, c : int, pos : int)
    y[0..1] = f(x, b, c)
end
for f = {met, chosen, set_anew, set_in_both, left_early, copied, computed, truths, with_number}
    for c = 0..1
        here = told(y -> parallel_do(1, f, x, b, y, c, by_path))
        host = told(y -> keep(f(x, b, c), y))
        print c, here == host ? ": as on the host, " : ": not as on the host, ", here, here == host ? "" : host
    end
end
function [] = __kernel__ computed_index(x : vec, b, y : vec, c : int, pos : int)
    v = x[0..1]
    if c > 0
        v = b[0..1]
    end
    for i = 0..1
        v[mod(i + c, 2)] = x[2] + i
    end
    for i = 0..1
        y[i] = v[i]
    end
end
for c = 0..1
    print told(y -> parallel_do(1, x, b, y, c, computed_index))
end
