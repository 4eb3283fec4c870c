% options: --loops always --explain
% Slices of arrays of integers and truth values: they keep their types, wrap as arrays do, and sums are exact.
function y = sums(x)
    y = float64(zeros(size(x,0), 6))
    for i = 0..size(x,0)-1
        y[i,0] = sum(x[i,:])
        y[i,1] = mean(x[i,:])
        y[i,2] = max(x[i,:]) - min(x[i,:])
        y[i,3] = sum(x[i,:] > x[i,0])
        y[i,4] = any(x[i,1..2] == 0) + 2*all(x[i,:])
        y[i,5] = sum(x[i,0..1] + x[i,2..3])
    end
end
x = reshape([200,100,0,255,1,2,3,4], [2,4])
print sums(uint8(x))
print sums(int(reshape([2000000000,1000000000,0,255,1,2,3,4], [2,4])))
print sums(reshape([true,true,false,true,true,true,true,true], [2,4]))
print sums(int64(reshape([2000000000,1000000000,0,255,1,2,3,4], [2,4])))

function y = pixels(img)
    y = uint8(zeros(size(img,0), 3))
    for i = 0..size(img,0)-1
        p = img[i,0,0..2]
        y[i,:] = (p[0] + p[1] + p[2])/3
        y[i,0..1] = img[i,0,1..2] - 50.5
    end
end
print pixels(uint8(reshape(200..211, [4,1,3])))

% uint32 wraps, and uint8 computes as int
function y = differences(a)
    y = float64(zeros(numel(a)))
    for i = 1..numel(a)-1
        d = a[i-1..i-1] - a[i..i]
        y[i] = d[0]
    end
end
print differences(uint32([1,2])), differences(uint8([1,2]))

% a comparison of a vector that is not a slice
function y = ranks(t, x)
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        y[i] = sum(t <= x[i]) + 100*any(t == x[i])
    end
end
print ranks(0..2..80, [5,6,100]), ranks(uint8(0..2..80), [5,6,100])

% a sum of int64 that overflows is an error
big = int64([9223372036854775807,1,2])
s = int(0)
try
    for i = 0..1
        s = sum(big[i..i+1])
    end
catch e
    print e
end

function y = scaled(x)
    y = float64(zeros(size(x,0)))
    for i = 0..size(x,0)-1
        y[i] = prod(x[i,:])
    end
end
print scaled(int([[1,2],[3,4]]))
