% cluster.q in one process: the result by blocks equals that of the whole, for kernels, functions, arrays and files.
import "cluster.q"
import "imfilter.q"

function [] = __kernel__ mean3(x : cube'mirror, y : cube, w : vec, pos : ivec3)
    s = 0.0
    for k = -1..1
        s += w[k+1]*(x[pos+[2*k,0,0]] + x[pos+[0,k,0]] + x[pos+[0,0,k]])
    end
    y[pos] = s
end
function [] = __kernel__ wrap(x : mat'circular, y : mat, r : int, pos : ivec2)
    y[pos] = x[pos-[0,r]] - x[pos+[r,0]]
end
function [] = __kernel__ fades(x : mat, y : mat, pos : ivec2)
    y[pos] = x[pos-[1,1]] + x[pos+[1,0]]
end
function [] = __kernel__ spread(x : vec'clamped, y : vec, r : int, pos : int)
    s = 0.0
    for k = -r..r
        s += x[pos+k]
    end
    y[pos] = s
end
function y = filtered(x, mask, boundary)
    y = imfilter(x, mask, [], boundary)
end
function y = root(x)
    y = sqrt(abs(x))
end
folder = "out/lib/cluster"      % one for each device: they are tested at the same time
for d = devices()
    folder = d.current ? strcat(folder, "_", d.kind) : folder
end
makedir(folder)
at = name -> strcat(folder, "/", name)

x = randn(7,20,31)
y = zeros(size(x))
w = [1,2,3]
parallel_do(size(x), x, y, w, mean3)
same = (p,q) -> isequal(size(p),size(q)) && max(abs(p-q)) < 1e-5    % how a sum is rounded depends on the place in a row
for block = {[3,20,31], [2,9,10], [7,20,31], [3], [2,1]}
    print same(y, cluster_map(mean3, x, block, args:={w}))
end
print same(y, cluster_map(mean3, x, args:={w}))

a = randn(33,41)
b = zeros(size(a))
parallel_do(size(a), a, b, 3, wrap)
print isequal(b, cluster_map(wrap, a, [10,7], args:={3}))
parallel_do(size(a), a, b, fades)
print isequal(b, cluster_map(fades, a, [10,7])), isequal(b, cluster_map(fades, a, [10,7], null, "safe"))
v = randn(1,100)
u = zeros(1,100)
parallel_do(100, v, u, 5, spread)
print isequal(u, cluster_map(spread, v, [1,13], args:={5}))

% functions: the caller gives the halo and the values outside
mask = ones(5,3)
for mode = {"mirror", "circular", "clamped"}
    print isequal(imfilter(a, mask, [], mode), cluster_map(filtered, a, [9,8], [2,1], mode, {mask, mode}))
end
print isequal(imfilter(a, mask, [], "zeros"), cluster_map(filtered, a, [9,8], [2,1], "safe", {mask, "zeros"}))
print isequal(root(a), cluster_map(root, a, 16)), isequal(root(a), cluster_map(z -> sqrt(abs(z)), a, 16))
% … or both follow from the kernels that it launches; blocks end where x ends
function y = faded(x, times)
    for i = 1..times
        y = uninit(size(x))
        parallel_do(size(x), x, y, fades)
        x = y
    end
end
function y = both(x)
    y = faded(x, 1)
    z = uninit(size(x))
    parallel_do(size(x), y, z, 1, wrap)
    y = z
end
function y = until_small(x)
    y = faded(x, max(x) > 50 ? 2 : 1)
end
function y = counted(x)
    y = zeros(1,4)
    parallel_do(size(x), x, y, counts)
end
function y = flat(x)
    y = uninit(size(x))
    parallel_do(size(x,0), x, y, column)
end
function [] = __kernel__ counts(x : mat, y : vec, pos : ivec2)
    y[0] += x[pos]
end
function [] = __kernel__ column(x : mat, y : mat, pos : int)
    y[pos,0] = x[pos,0]
end
for block = {[9,8], [4,41], 40}
    print isequal(faded(a, 3), cluster_map(faded, a, block, args:={3}))
end
print isequal(faded(a, 3), cluster_map(faded, a, [9,8], 3, "none", {3}))
print max(abs(faded(a, 1) - cluster_map(faded, a, [9,8], 0, args:={1}))) > 0    % who says 0 gets it
print type(cluster_map(root, float64(a), 16)), " ", type(cluster_map(z -> z > 100, uint8(255*abs(a)), 16))

% files
save(at("x.npy"), x)
print cluster_map(mean3, at("x.npy"), [2,9,10], args:={w}, into:=at("y.npy")) == at("y.npy")
print same(y, load(at("y.npy"))), isequal(load(at("y.npy")), cluster_map(mean3, at("x.npy"), [2,9,10], args:={w}))
cluster_map(mean3, x, [4], args:={w}, into:=at("z.npy"))
print same(y, load(at("z.npy")))

% sums in the order of blocks
total = cluster_reduce(sum, (p,q) -> p + q, x, [3,20,31])
print abs(total - (sum(x[0..2,:,:]) + sum(x[3..5,:,:]) + sum(x[6,:,:]))) < 1e-4
print cluster_reduce(z -> {min(z), max(z)}, (p,q) -> {min(p[0],q[0]), max(p[1],q[1])}, x, [2,7])[1] == max(x)

function [] = why(f, args)
    try
        print apply(f, args)
    catch e
        print strrep(sprintf("%s", e), folder, "")
    end
end
function [] = __kernel__ unbounded(x : vec, d : vec, y : vec, pos : int)
    y[pos] = x[pos+int(d[pos])]
end
function [] = __kernel__ bare(x : vec'unchecked, y : vec, pos : int)
    y[pos] = x[pos+1]
end
function [] = __kernel__ two(x : vec, y : vec, z : vec, pos : int)
    y[pos] = x[pos] + z[pos]
end
function [] = __kernel__ fixed(x : vec, y : vec, pos : int)
    y[pos] = x[3]
end
function [] = __kernel__ channels(x : cube, y : cube, pos : ivec2)
    for k = 0..2
        y[pos[0],pos[1],k] = x[pos[0],pos[1],2-k]
    end
end
function [] = __kernel__ backwards(y : vec, x : vec, pos : int)
    y[pos] = x[pos]
end
why(cluster_map, {mean3, x, [1,9,9], null, null, {w}})
why(cluster_map, {mean3, x, [4], [1], null, {w}})
why(cluster_map, {mean3, x, [4], null, "circular", {w}})
why(cluster_map, {mean3, x, [4,4,4,4], null, null, {w}})
why(cluster_map, {mean3, x, [0,4], null, null, {w}})
why(cluster_map, {mean3, x, 2.5, null, null, {w}})
why(cluster_map, {bare, v})
why(cluster_map, {backwards, v})
why(cluster_map, {two, v, 10, null, null, {v}})
why(cluster_map, {channels, x, [3,9,9]})
why(cluster_map, {fixed, v, 10})
why(cluster_reduce, {spread, (p,q) -> p, v})
why(cluster_map, {unbounded, v, 10, null, null, {v}})
why(cluster_map, {z -> z[0..1,:], a, [8]})
why(cluster_map, {z -> sum(z), a, [8]})
why(cluster_map, {root, at("none.npy")})
why(cluster_map, {root, at("x.npy"), [2,9,10], null, null, {}, strcat(folder, "/./x.npy")})
why(cluster_map, {root, a, [8], [9,9], "mirror"})
why(cluster_map, {root, a, [8], [2,2], "wrong"})
late = 0*a
late[30,40] = 90
why(cluster_map, {both, a, [9,8]})
why(cluster_map, {counted, a, [9,8]})
why(cluster_map, {until_small, late, [9,8]})
why(cluster_map, {flat, a, [9,8]})
why(cluster_map, {faded, a, [2,2], null, null, {3}})
why(cluster_map, {z -> error("of its own"), a})
