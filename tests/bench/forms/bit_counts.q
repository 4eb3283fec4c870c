% The number of bits that are set in integers.
function x = inputs()
    x = int(mod((0..99999)*7919, 65536))
end
function y = with_while(x)
    y = int(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        v = x[i]
        n = 0
        while v > 0
            n += and(v, 1)
            v = shr(v, 1)
        end
        y[i] = n
    end
end
function y = with_for(x)
    y = int(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        n = 0
        for k = 0..15
            n += and(shr(x[i], k), 1)
        end
        y[i] = n
    end
end
function n = bits_of(v)
    n = 0
    while v != 0
        v = and(v, v - 1)
        n += 1
    end
end
function y = with_function(x)
    y = int(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        y[i] = bits_of(x[i])
    end
end
function y = with_mod(x)
    y = int(zeros(1, numel(x)))
    for i = 0..numel(x)-1
        v = x[i]
        n = 0
        while v > 0
            if mod(v, 2) == 1
                n = n + 1
            end
            v = floor(v/2)
        end
        y[i] = n
    end
end
