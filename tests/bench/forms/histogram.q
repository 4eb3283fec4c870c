% How often each of 256 values occurs.
function x = inputs()
    x = uint8(mod((0..999999)*7919, 256))
end
function h = with_for(x)
    h = zeros(1, 256)
    for i = 0..numel(x)-1
        h[x[i]] += 1
    end
end
function h = with_variable(x)
    h = zeros(1, 256)
    for i = 0..numel(x)-1
        k = x[i]
        h[k] = h[k] + 1
    end
end
function h = with_ints(x)
    h = int(zeros(1, 256))
    for i = 0..numel(x)-1
        h[x[i]] += 1
    end
end
function [] = __kernel__ counted(x : vec[uint8], h : vec[int], pos : int)
    h[x[pos]] += 1
end
function h = with_kernel(x)
    h = vec[int](256)
    parallel_do(numel(x), x, h, counted)
end
