% A checksum of elements of uint64.
function x = inputs()
    x = cast(mod((0..99999)*7919, 1009), "uint64")
end
function s = with_elements(x)
    s = 0
    for i = 0..numel(x)-1
        s += mod(x[i]*3 + i, 17)
    end
end
function s = with_int64(x)
    y = cast(x, "int64")
    s = 0
    for i = 0..numel(y)-1
        s += mod(y[i]*3 + i, 17)
    end
end
function s = with_for_each(x)
    s = 0
    i = 0
    for v = x
        s += mod(v*3 + i, 17)
        i += 1
    end
end
function s = with_expression(x)
    s = sum(mod(float64(x)*3 + (0..numel(x)-1), 17))
end
