% options: --loops always
% Slices that begin at int(x), floor(x) or a sum of these; sizes and extremes as several results.
c = reshape(mod((0..99)*37, 101)/8 - 3, [1,100])
m = reshape(mod((0..99)*37, 101)/8 - 3, [10,10])
function y = at_int(c, t)
    y = zeros(numel(t))
    for i = 0..numel(t)-1
        k = int(t[i])
        y[i] = sum(c[k..k+3])
    end
end
function y = at_floor(c, t)
    y = zeros(numel(t))
    for i = 0..numel(t)-1
        k = floor(t[i]) + 1
        y[i] = sum(c[k-1..k+2])
    end
end
function y = at_any_length(c, t, n)
    y = zeros(numel(t))
    for i = 0..numel(t)-1
        k = floor(t[i])
        y[i] = sum(c[k..k+n]) + sum(c[k+n..-1..k])
    end
end
function y = at_ends(c, t, u)
    y = zeros(numel(t))
    for i = 0..numel(t)-1
        y[i] = sum(c[floor(t[i])..int(u[i])])
    end
end
function y = weighted(c, t)
    y = zeros(numel(t))
    for i = 0..numel(t)-1
        k = int(t[i])
        f = t[i] - k
        y[i] = dotprod(c[k..k+1], [1-f, f])
    end
end
function y = of_rows(m, t)
    y = zeros(numel(t))
    for i = 0..numel(t)-1
        k = ceil(t[i])
        y[i] = sum(m[mod(i,10), k..k+2]) - max(m[k..k+2, mod(i,10)])
    end
end
function [y, at] = extremes(c, n)
    y = zeros(numel(c) - n)
    at = zeros(numel(c) - n)
    for i = 0..numel(c)-n-1
        [y[i], k] = max(c[i..i+n-1])
        [least, j] = min(c[i..i+4])
        at[i] = 100*k + j + least
    end
end
function y = sizes(m, v, b)
    y = 0
    for i = 0..numel(v)-1
        [rows, cols] = size(m)
        s = size(b)
        [p, q] = size(b, [2,0])
        [one, n] = size(v[i..numel(v)-1])
        [r, c] = size(m[0..2,i..i+1])
        y += rows*i + cols + s[0]*s[2] + sum(s) + p - q + one*n + 10*r + c + size(m[i,:], 1)
    end
end
function [] = attempt(f)
    try
        print f()
    catch e
        print e
    end
end
t = abs(c)*5
print at_int(c, t)[90..99]
print at_floor(c, t)[90..99]
print at_any_length(c, t, 5)[90..99]
print at_ends(c, t, t + c)[90..99]
print weighted(c, t)[90..99]
print of_rows(m, mod(t, 7))[0..9]
[y, at] = extremes(c, 7)
print y[0..9], at[0..9]
print sizes(m, 0..7, ones(2,3,4))
t[50] = 0.5
attempt(() -> at_floor(c, t)[50])
for bad = {nan, 1e15, -1, 98, -1e15}
    t[50] = bad
    attempt(() -> at_int(c, t)[50])
    attempt(() -> at_floor(c, t)[50])
    attempt(() -> at_any_length(c, t, 2)[50])
    attempt(() -> at_ends(c, t, t)[50])
    attempt(() -> of_rows(m, t)[50])
end
for bad = {inf, -inf}
    t[50] = bad
    attempt(() -> at_floor(c, t)[50])
    attempt(() -> at_any_length(c, t, 2)[50])
end
t = mod(t, 8)
t[7] = 8
attempt(() -> of_rows(m, t)[50])
attempt(() -> extremes(c, 0))
