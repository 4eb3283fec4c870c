% In x[i] |= n and the like, a number has as many bits as the elements: in kernels, alone or by several positions, as in
% loops. Lines with `|` name a difference. Updates of uint64 by sums wrap.
function [] = __kernel__ up(x, v, pos : int)
    x[pos] |= v
end
function [] = __kernel__ upi(x, v : int, pos : int)
    x[pos] ~= v
end
function [] = __kernel__ lit(x, pos : int)
    x[pos] &= -2
end
function [] = __kernel__ shared_one(x, v, pos : int)
    x[0] |= v
end
function [] = __kernel__ local(x, y, pos : int)
    a = y[0..1]
    a[0] |= -1
    x[pos] = a[0]
end
function y = on_host(x, v)
    y = copy(x)
    for i = 0..numel(x)-1
        y[i] |= v
    end
end
function y = on_host_xor(x, v)
    y = copy(x)
    for i = 0..numel(x)-1
        y[i] ~= v
    end
end
function text = attempt(f)
    try
        text = sprintf("%s", f())
    catch e
        text = strcat("error: ", e.message)
    end
end
function y = run(k, x, v)
    y = copy(x)
    parallel_do(numel(x), y, v, k)
end
function y = run1(k, x)
    y = copy(x)
    parallel_do(numel(x), y, k)
end
arrays = {uint8([0,5]), int8([0,-5]), uint16([0,5]), int16([0,5]), uint32([0,5]), int([0,5]), int64([0,5]), uint64([0,5])}
for k = 0..numel(arrays)-1
    x = arrays[k]
    for v = [-1,3,-129,255,65535,0.5,4294967296]
        a = attempt(() -> on_host(x, v))
        b = attempt(() -> run(up, x, v))
        if a != b
            print type(x), " ", v, ": ", a, " | ", b
        endif
    end
    for v = [-1,3,200]
        a = attempt(() -> on_host_xor(x, int(v)))
        b = attempt(() -> run(upi, x, int(v)))
        if a != b
            print type(x), " ", v, ": ", a, " | ", b
        endif
    end
    print type(x), " ", attempt(() -> run(up, x, -1)), " ", attempt(() -> run1(lit, x)), " ", attempt(() -> run(shared_one, x, -1)), " ", _
        attempt(() -> run(local, x, x))
end
function [] = __kernel__ less(x, v, pos : int)
    x[pos] -= v
end
x = uint64([0,5])
y = copy(x)
for i = 0..1
    y[i] -= 1
end
print y, " ", run(less, x, 1), " ", run(less, x, int(-1))
