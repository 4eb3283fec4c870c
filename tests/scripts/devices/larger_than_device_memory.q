% options: --memory-limit 3M
% devices: opencl

% Eight arrays of 1 MB; the device has room for three: the least recently used ones move to the host and back.
function [] = __kernel__ add(x : vec'unchecked, y : vec'unchecked, v : scalar, pos : int)
    y[pos] = x[pos] + v
end

function [] = main()
    n = 262144
    arrays = cell(8)
    for i = 0..7
        arrays[i] = ones(n) * i
    end
    for turn = 1..3
        for i = 0..7
            parallel_do(n, arrays[i], arrays[mod(i + 3, 8)], turn, add)
        end
    end
    for i = 0..7
        print(i, ": ", min(arrays[i]), " ", max(arrays[i]))
    end
end
