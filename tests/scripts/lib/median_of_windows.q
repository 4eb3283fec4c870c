% medfilt against its definition: tiles and their edges, radii beyond the image, channels, element types, views.
function m = plain(x : mat'mirror, r)
    m = copy(x)
    for i = 0..size(x,0)-1
        for j = 0..size(x,1)-1
            window = sort(reshape(x[i-r..i+r, j-r..j+r], [1, (2*r+1)^2]))
            m[i,j] = window[(numel(window)-1)/2]
        end
    end
end
function [] = check(x, r)
    print r, ": ", sum(medfilt(x, r) != plain(x, r))
end
check(rand(70, 141), 2)    % tiles of 68 x 68
check(rand(73, 8), 4)
check(rand(3, 5), 9)
check(rand(1, 40), 3)
check(round(9*rand(1, 1200)), 7)    % vectors: windows of 15 elements, tiles of 540
check(transpose(rand(1, 1100)), 3)
x = rand(1, 700, 2)
y = medfilt(x, 4)
print sum(y[:,:,0] != plain(x[:,:,0], 4)) + sum(y[:,:,1] != plain(x[:,:,1], 4))
x = rand(3000)
x[7] = nan
print isequal(medfilt1(x, 9)[4], sort(x[0..8])[4])
check(round(4*rand(30, 31)), 5)
check(float64(rand(20, 20)), 1)
check(transpose(rand(12, 19)), 3)
check(rand(40, 40)[0..2..39, 39..-3..0], 2)
x = rand(10, 90, 3)
y = medfilt(x, 3)
print max(abs(y[:,:,1] - plain(x[:,:,1], 3))), size(y)
for t = {uint8, int16, int, float16}
    z = t(200*rand(9, 17) - 20)
    print type(medfilt(z, 2)) == type(z), max(abs(medfilt(z, 2) - plain(z, 2)))
end
% nan or -0 in the last columns, rows and channels only
wrong = 0
for t = {u -> u, float64}
    for r = 1..2
        for n = 1..3
            x = rand(9, 37)
            x[8,37-n] = nan
            y = copy(x)
            x[isnan(x)] = 1/0                  % sorts alike
            a = medfilt(t(y), r)
            wrong += any(where(isnan(a), 1/0, a) != medfilt(t(x), r))
            y[8,37-n] = -1/inf
            x[8,37-n] = 0
            wrong += any(medfilt(t(y), r) != medfilt(t(x), r))
        end
    end
end
print "wrong ", wrong
print medfilt([5,1,4,2]), medfilt(7, 3), size(medfilt(zeros(0,4), 2)), medfilt([3,1,2], 0)
% nan is larger than any number, and zeros are equal
print medfilt([nan,1,nan,2,3], 1), medfilt([0,-0,0,1], 1)
for f = {() -> medfilt(1..3, -1), () -> medfilt(ones(2,2), 256), () -> medfilt(ones(2,2)*1i), () -> medfilt(zeros(2,2,2,2))}
    try
        f()
    catch e
        print e
    end
end
