% A number that is stored in an array of integers is cut off and limited to what the elements hold; NaN becomes 0.
% Kernels and loops, with many positions side by side or one alone, do it as conversions on the host do.
function [] = __kernel__ store(x, y, pos : int)
    y[pos] = x[pos]
end
function y = store_in_loop(x, y)
    for i = 0..numel(x)-1
        y[i] = x[i]
    end
end
function [] = check(x, convert)
    expected = convert(x)
    y = convert(0*x)
    parallel_do(numel(x), x, y, store)
    z = store_in_loop(x, convert(0*x))
    last = numel(x) - 1
    one = convert([1])
    parallel_do(1, x[last..last], one, store)
    assert(all(y == expected) && all(z == expected) && one[0] == expected[last])
    print expected[numel(x)-19..last]
end
edges = [0,-0.0,0.5,-0.5,-1,1.99,126.9,127,-128.9,-129,255.5,256,32768,-32769,65535.9,65536,-2147483648,inf,-inf,nan]
x = zeros(3000)
x[2980..2999] = edges
for k = 0..1
    y = k == 0 ? x : float64(x)
    check(y, int8)
    check(y, uint8)
    check(y, int16)
    check(y, uint16)
    check(y, int32)
    check(y, uint32)
    check(y, int64)
end
wide = float64(zeros(3000))
wide[2981..2999] = float64([2147483647.5,2147483646.5,-2147483648.9,-2147483649.9,4294967295.5,4294967294.5,4294967296.5,-0.9,
    2147483520,2147483648,4294967040,4294967296,-1e10,1e10,-1e300,1e300,1e19,-1e19,nan])
check(wide, int32)
check(wide, uint32)
check(float32(wide), int32)
check(float32(wide), uint32)
