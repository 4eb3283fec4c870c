% CRC-32 of bytes.
function x = inputs()
    x = uint8(mod((0..19999)*7919, 251))
end
function r = with_loops(x)
    c = 4294967295
    for i = 0..numel(x)-1
        c = xor(c, x[i])
        for k = 0..7
            if and(c, 1) == 1
                c = xor(shr(c, 1), 0EDB88320h)
            else
                c = shr(c, 1)
            end
        end
    end
    r = xor(c, 4294967295)
end
function r = with_table(x)
    t = uint32(0..255)
    for n = 0..255
        c = t[n]
        for k = 0..7
            c = and(c, 1) ? xor(0EDB88320h, shr(c, 1)) : shr(c, 1)
        end
        t[n] = c
    end
    c = 0FFFFFFFFh
    for v = x
        c = xor(t[and(xor(c, v), 255)], shr(c, 8))
    end
    r = xor(c, 0FFFFFFFFh)
end
function c = step(c, v)
    c = xor(c, v)
    for k = 0..7
        c = xor(shr(c, 1), and(c, 1)*0EDB88320h)
    end
end
function r = with_function(x)
    c = int(4294967295)
    i = 0
    while i < numel(x)
        c = step(c, x[i])
        i += 1
    end
    r = xor(c, 4294967295)
end
function r = with_declared(x : vec[uint8])
    c : uint32 = 4294967295
    for i = 0..numel(x)-1
        c = xor(c, x[i])
        for k = 0..7
            low = and(c, 1)
            c = shr(c, 1)
            if low
                c ~= 0EDB88320h
            end
        end
    end
    r = xor(c, 4294967295)
end
