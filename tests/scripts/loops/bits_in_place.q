% options: --loops always
% &=, |= and ~= of numbers, and elements of uint64: an int, or a number from 2^63 on.
function c = crc(x : vec[uint8])
    c : uint32 = 4294967295
    for i = 0..numel(x)-1
        c ~= x[i]
        for k = 0..7
            low = and(c, 1)
            c = shr(c, 1)
            if low
                c ~= 0EDB88320h
            end
        end
    end
    c ~= 4294967295
end
function [m, s] = last(x, n)
    s = 0
    for i = 0..n
        m = x[i]
        s = s*0.5 + mod(m, 17) + m/4 + (m == 250)
    end
end
function [] = report(f)
    try
        f()
    catch e
        print e
    end
end
print crc(toascii("123456789")) == 0CBF43926h
x = uint64([1,2,250,9223372036854775807,9223372036854775808,18446744073709551615])
for n = 2..5
    [m, s] = last(x, n)
    print type(m), " ", m, " ", s
end
y = uint64(zeros(6))
for i = 0..5
    y[i] = x[5-i] > 300 ? x[5-i] : int(2 - i)
end
print y
z = uint8([200,7,255])
s = 7
for i = 0..2
    z[i] &= 15
    z[i] ~= 240
    s |= z[i]
end
print z, " ", s, " ", type(s)
function s = fails(x)
    s = 5
    for i = 0..3
        s ~= x[i]
    end
end
report(() -> fails([1,2,0.5,3]))
report(() -> fails([1,2,nan,3]))
