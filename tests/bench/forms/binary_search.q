% Positions of many values in a sorted array.
function [x, v] = inputs()
    x = float64(0..99999)
    v = float64(mod((0..99999)*7919, 100000))
end
function p = with_floor(x, v)
    p = zeros(1, numel(v))
    for i = 0..numel(v)-1
        low = 0
        high = numel(x) - 1
        while low < high
            middle = floor((low + high)/2)
            if x[middle] < v[i]
                low = middle + 1
            else
                high = middle
            end
        end
        p[i] = low
    end
end
function p = with_int(x, v)
    p = zeros(1, numel(v))
    for i = 0..numel(v)-1
        low = int(0)
        high = int(numel(x) - 1)
        while low < high
            middle = int(floor((low + high)/2))
            if x[middle] < v[i]
                low = middle + 1
            else
                high = middle
            end
        end
        p[i] = low
    end
end
function p = with_shift(x, v)
    p = zeros(1, numel(v))
    for i = 0..numel(v)-1
        low = 0
        high = numel(x) - 1
        while low < high
            middle = shr(low + high, 1)
            if x[middle] < v[i]
                low = middle + 1
            else
                high = middle
            end
        end
        p[i] = low
    end
end
function low = found(sorted, key)
    low = 0
    high = numel(sorted) - 1
    while low < high
        middle = floor((low + high)/2)
        if sorted[middle] < key
            low = middle + 1
        else
            high = middle
        end
    end
end
function p = with_function(x, v)
    p = zeros(1, numel(v))
    for i = 0..numel(v)-1
        p[i] = found(x, v[i])
    end
end
