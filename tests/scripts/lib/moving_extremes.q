% The extremes of moving windows, beside the same by loops; nan does not take part, -0 counts as 0.
function y = expected(x, before, after, f)
    y = copy(x)
    n = numel(x)
    for i = 0..n-1
        y[i] = f(x[max(i-before,0)..min(i+after,n-1)])
    end
end

function same = equal_but_nan(x, y)
    same = all(isnan(x) == isnan(y)) && all(where(isnan(x), 0, x) == where(isnan(y), 0, y))
end

randseed(3)
wrong = 0
for n = [1,2,3,7,64,1000]
    for w = [1,2,3,5,15,64,1500]
        x = round(100*rand(1, n))
        x[x == 7] = nan
        before = floor(w/2)
        after = w-1-before
        least = expected(x, before, after, nanmin)
        most = expected(x, before, after, nanmax)
        for f = {u -> u, float64, float16}
            y = f(x)
            wrong += any(where(isnan(least), 0, movmin(y, w) != least)) || any(isnan(movmin(y, w)) != isnan(least))
            wrong += any(where(isnan(most), 0, movmax(y, [before,after]) != most))
        end
        x[isnan(x)] = 3
        least = expected(x, before, after, min)
        for f = {uint8, int8, int16, uint16, int32, uint32, int64, uint64}
            y = f(x)
            wrong += any(movmin(y, w) != least) || type(movmin(y, w)) != type(y)
            wrong += any(100-movmax(f(100-x), w) != least)
        end
        tall = repmat(transpose(x), [1,5])
        wrong += any(movmin(tall, w, 0) != repmat(transpose(least), [1,5]))
        deep = permute(repmat(tall, [1,1,3]), [2,0,1])
        wrong += any(movmin(deep, w, 1) != permute(repmat(repmat(transpose(least), [1,5]), [1,1,3]), [2,0,1]))
    end
end
% Rows and columns at once, beside one after the other; wide and narrow images, windows larger than they are.
for s = {[1,1], [1,9], [9,1], [5,7], [200,3], [3,200], [70,900], [6,5,3], [80,90,4], [2,3,2,5]}
    x = round(100*rand(s))
    x[x == 7] = nan
    for w = {[0,0,0,0], [1,1,1,1], [2,0,0,3], [0,4,7,7], [0,0,1,40], [31,30,0,0], [1000,2,5,900]}
        window = reshape(w, [2,2])
        for f = {u -> u, float64, float16, uint8, int16, int32, u -> permute(u, [1,0,2,3])}
            y = f(x)
            least = movmin(movmin(y, window[0,:], 0), window[1,:], 1)
            most = movmax(movmax(y, window[0,:], 0), window[1,:], 1)
            wrong += !equal_but_nan(movmin(y, window), least) || !equal_but_nan(movmax(y, window), most)
            wrong += type(movmin(y, window)) != type(least) || any(size(movmin(y, window)) != size(y))
        end
    end
end
print "wrong ", wrong
print movmin([[5,1,6],[7,8,9],[2,3,4]], [[0,1],[1,0]])
print movmin([3,1,4,1,5,9,2,6], 3), movmax([3,1,4,1,5,9,2,6], [0,2]), movmin([nan,nan,nan,1,-inf], 2)
print 1/movmin([-0.0,-0.0], 2), 1/movmax(float64([-0.0,-0.0]), 2), movmin(zeros(0,3), 2), movmax(5, 3)
for f = {() -> movmin([1,2], 0), () -> movmin([1,2], [1,2,3]), () -> movmax([1,2], [-1,2]), () -> movmin(1j*[1,2], 2), _
         () -> movmin([1,2], 3, 5), () -> movmin("text", 2), () -> movmin([1,2], [[1,1],[1,1]], 0)}
    try
        f()
    catch e
        print e
    end
end
