% Wrapping, saturation and overflow errors are the same in compiled loops and in kernels.
most = int([2147483647])
bytes = uint8([200])
long = int64([9223372036854775807,1])
print most + int([1]), bytes + bytes, uint16([65535]).*uint16([65535])
print uint32([0]) - uint32([1]), " ", long + int64([1])
print most + 1, " ", most[0] + most[0]
try
    print long[0] + long[1]
catch e
    print e
end
function [] = __kernel__ add(x, y, pos : int)
    y[pos] = x[pos] + 100
    x[pos] += 1
end
sums = uint8([0])
parallel_do(1, bytes, sums, add)
next = int([0])
parallel_do(1, most, next, add)
print sums, bytes, next, most
bytes[0] += 100
most += 1
print bytes, most, uint8([-1,300,1.9])
function y = total(x, n)
    y = 0
    for i = 0..n-1
        y = x[i] + x[i+1]
        x[i] += x[i+1]
    end
end
for x = {int([2147483647,1]), uint8([200,100]), uint32([4294967295,1]), int64([9223372036854775807,1])}
    try
        print total(x, 1), " ", x
    catch e
        print e, " ", x
    end
end
