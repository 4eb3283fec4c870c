% options: --loops always
% Bounds of these indices do not fit int64: modulo 2^64 some would be inside.
function y = pick(x, k)
    y = zeros(9) - 1
    for i=0..8
        y[i] = x[int(i)*k]
    end
end
function [] = move(x, y, k)
    for i=0..8
        y[i] = x[int(i)+k]
    end
end
function [] = put(x, k)
    for i=0..8
        x[int(i)+k] = 77
    end
end
function s = add(x, k)
    s = 0
    for i=0..8
        s += x[k - int(i)*k]
    end
end
x = 1..10
for k=[int(2)^61, int(2)^62, -int(2)^61]
    try
        print pick(x, k)
    catch e
        print e
    end
    try
        print add(x, k)
    catch e
        print e
    end
end
most = int(9223372036854775807)
y = zeros(9)
z = zeros(10)
try
    move(x, y, most)
catch e
    print e
end
try
    move(x, y, -most)
catch e
    print e
end
try
    put(z, most)
catch e
    print e
end
print y, z
print pick(x, int(1)), " ", add(x, int(0))
