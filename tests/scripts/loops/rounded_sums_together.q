% A loop with several sums that are rounded to float32, some of which must run in order, has the bits of a plain loop.
% options: --loops always --no-warnings
function [s, t, c, v] = stored(a, b, s, t)
    c = zeros(numel(a))
    v = 0
    for i = 1..4
        s[i] += s[i-1]
        for k = 0..numel(a)-1
            s[i] += a[k]*b[k]
            c[k] = s[i]
            t[i] += a[k]*b[k]
        end
    end
end
function [s, t, c, v] = read(a, b, s, t)
    c = zeros(numel(a))
    v = 0
    for i = 1..4
        s[i] += s[i-1]
        for k = 0..numel(a)-1
            t[i] -= a[k]*b[k]
            s[i] += a[k]*b[k]
            v = s[i]
        end
    end
end
function [s, t, c, v] = twice(a, b, s, t)
    c = zeros(numel(a))
    v = 0
    for i = 1..4
        s[i] += s[i-1]
        for k = 0..numel(a)-1
            s[i] += a[k]*b[k]
            t[i] += a[k]*b[k]
            s[i] += 0.25*b[k]
        end
    end
end
function [s, t, c, v] = before(a, b, s, t)
    c = zeros(numel(a))
    v = 0
    for i = 1..4
        s[i] += s[i-1]
        for k = 0..numel(a)-1
            v = s[i]
            s[i] = v + a[k]*b[k]
            t[i] += a[k]*b[k]
        end
    end
end
function [s, t, c, v] = mutual(a, b, s, t)
    c = zeros(numel(a))
    v = 0
    for i = 1..4
        s[i] += s[i-1]
        for k = 0..numel(a)-1
            t[i] += a[k]*b[k]
            s[i] += 0.001*t[i]
        end
    end
end
function [s, t, c, v] = scaled(a, b, s, t)
    c = zeros(numel(a))
    v = 0
    for i = 1..4
        s[i] += s[i-1]
        for k = 0..numel(a)-1
            t[i] += a[k]*b[k]
            s[i] = 0.5*s[i] + a[k]*b[k]
        end
    end
end
function [s, t, c, v] = three(a, b, s, t)
    c = zeros(numel(a))
    v = 0
    for i = 1..4
        s[i] += s[i-1]
        for k = 0..numel(a)-1
            t[i] += a[k]*b[k]
            s[i] -= 0.5*a[k]*b[k]
            c[i] += b[k]*b[k]
        end
    end
end
n = 3000
a = mod(7919*(0..n-1), 1009)/1009
b = mod(104729*(0..n-1), 997)/997
for f = {stored, read, twice, before, mutual, scaled, three}
    [s, t, c, v] = f(a, b, [1,0.5,0,-2,1000,3], [3,2,0,1e6,-1000,1])
    printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g", s[1], s[2], s[3], s[4], t[1], t[2], t[3], t[4])
    printf("%.9g %.9g %.9g %.9g %.9g", c[0], c[1], c[4], c[n-1], v)
end
