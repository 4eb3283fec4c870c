% devices: ref
% Shifts, running results and positions of extrema on the device of the arrays: bitwise as on the host, except sums.
import "along_cases.q"

same = (name, f) -> check(name, f, 0)

function [] = moves(name, x)
    same(strcat(name, " permute"), () -> permute(x, [2,0,1]))
    same(strcat(name, " moveaxis"), () -> moveaxis(x, 0, 2))
    same(strcat(name, " transpose"), () -> transpose(squeeze(x[0,:,:])))
    same(strcat(name, " flip"), () -> flip(x, 1))
    same(strcat(name, " shift"), () -> circshift(x, [1,-2,0]))
    same(strcat(name, " repeat"), () -> repmat(x, [2,1,3]))
    same(strcat(name, " join"), () -> cat(1, x, x[:,1..2,:], x))
    same(strcat(name, " slice"), () -> x[1..-1..0,1..2..4,2..3])
    same(strcat(name, " list"), () -> x[1,[4,0,0,2],[3,1]])
    same(strcat(name, " copy"), () -> copy(x[:,2,:]))
    same(strcat(name, " reshape"), () -> reshape(permute(x, [1,0,2]), [10,4]))
    same(strcat(name, " put"), () -> with_put(x))
    mask = mod(reshape(0..39, size(x)), 3) == 1
    same(strcat(name, " mask"), () -> x[mask])
    same(strcat(name, " none"), () -> x[mask && !mask])
    same(strcat(name, " choose"), () -> mask ? x : x[:,1..1,:])
    same(strcat(name, " number"), () -> where(mask[:,:,2..2], 1, x))
end

function y = with_put(x)
    y = copy(x)
    y[0,1..3,:] = y[1,0..2,:]
    y[:,4,1] = 1
    y[1,[3,0],[2,0]] = x[0,0..1,0..1]
    y[0,[2,2],0] = x[1,0..1,3]
    y[0,0,:] = y[1,1,1]
    y[mod(reshape(0..39, size(x)), 5) == 2] = 0
end

function [] = runs(name, x, dim)
    bound = type(x) == type(float64([0])) ? 1e-13 : 1.2e-7
    check(strcat(name, " cumsum"), () -> cumsum(x, dim), bound)
    if !isint(x) % whose products overflow
        check(strcat(name, " cumprod"), () -> cumprod(x, dim), 4*bound)
    end
    if isreal(x)
        same(strcat(name, " place of max"), () -> place_of(x, dim, max))
        same(strcat(name, " place of min"), () -> place_of(x, dim, min))
    end
end

function i = place_of(x, dim, f)
    [m, i] = f(x, [], dim)
end

x = reshape(wave(40, 0.7), [2,5,4])
moves("float64", x)
moves("float32", float32(x))
moves("uint8", uint8(abs(x)*50))
moves("int16", int16(x*50))
moves("int64", int64(x*50))
moves("bool", x > 0.5)
moves("complex", complex(x, x.^2))
moves("complex32", complex(float32(x), float32(x).^2))

shapes = {[3,40], [40,3], [1,3000], [1,33], [2,1100], [70,2], [2,3,33], [2,33,3]}
for i = 0..numel(shapes)-1
    s = shapes[i]
    x = 1 + reshape(wave(prod(s), 0.7), s)/8
    for dim = 0..numel(s)-1
        runs("float64", x, dim)
        runs("float32", float32(x), dim)
    end
end
x = reshape(wave(120, 1.3), [4,30])
odd = float32(x)
odd[1,3] = nan
odd[2,:] = nan
odd[0,7] = -inf
ties = mod(reshape(0..119, [4,30]), 7)
for dim = 0..1
    runs("nan", odd, dim)
    runs("zeros", reshape([0,-0.0,-0.0,-0.0], [2,2]), dim)
    runs("ties", ties, dim)
    runs("int8", int8(x*50), dim)
    runs("int32", int32(x*9), dim)
    runs("uint64", uint64(abs(x)*9), dim)
    runs("bool", x > 0.5, dim)
    runs("complex", complex(x, x.^2), dim)
    runs("turned", transpose(x), dim)
    runs("a part", x[1..3,4..3..28], dim)
    runs("backwards", x[3..-1..0,20..-2..3], dim)
end
same("places of all", () -> [find_index_max(x), find_index_min(x), find_index_max(odd), find_index_max(odd[2,:])])
same("empty", () -> cumsum(zeros(0,3), 0))
same("empty part", () -> permute(x[:,3..2], [1,0]))
same("one", () -> cumsum([5]))

rises = () -> cumsum(abs(float32(wave(5000, 0.37))))
[host, device] = both(rises)
print all(device[1..4999] >= device[0..4998])

setenv("QUASAR_LIBRARIES", "always")
weights = reshape(1..24, [2,3,4])/10
y = reshape(wave(24, 0.9), [2,3,4])
print gradcheck(y -> sum(permute(y, [2,0,1]).*permute(weights, [2,0,1]).^2), y)
print gradcheck(y -> sum(cumsum(y, 1).*weights) + sum(cumprod(y, 2)), y)
print gradcheck(y -> sum(max(y, [], 1).^2) + sum(y[:,[2,0],1..2].^2), y)
