% options: --loops always
% Windows that the ends of an array clip: as slices and as inner loops, with numbers that are compiled in, and not.
% Each form has the result of the window of an array with the access mode 'safe, or with a window of neighbours.
function y = with_slices(x, r, f)
    [n, m] = size(x)
    y = zeros(n, m)
    for i = 0..n-1
        for j = 0..m-1
            w = x[max(0,i-r)..min(n-1,i+r), max(0,j-r)..min(m-1,j+r)]
            y[i,j] = f == 0 ? sum(w) : f == 1 ? mean(w) : max(w) - min(w)
        end
    end
end
function y = with_extremes(x, r)
    [n, m] = size(x)
    y = zeros(n, m)
    for i = 0..n-1
        for j = 0..m-1
            y[i,j] = max(x[max(0,i-r)..min(n-1,i+r), max(0,j-r)..min(m-1,j+r)])
        end
    end
end
function y = with_loops(x, r)
    [n, m] = size(x)
    y = zeros(n, m)
    for i = 0..n-1
        for j = 0..m-1
            s = 0
            for k = max(0,i-r)..min(n-1,i+r)
                for l = max(j-r,0)..min(j+r,m-1)
                    s += x[k,l]
                end
            end
            y[i,j] = s
        end
    end
end
function y = with_clamped_indices(x, r)
    [n, m] = size(x)
    y = zeros(n, m)
    for i = 0..n-1
        for j = 0..m-1
            s = 0
            for k = -r..r
                s += x[min(max(i+k,0),n-1), max(0,min(m-1,j+2*k))] + x[i, max(j-1,0)]
            end
            y[i,j] = s
        end
    end
end
function y = unclipped(x, r)
    [n, m] = size(x)
    y = zeros(n, m)
    for i = r..n-1-r
        for j = r..m-1-r
            s = 0
            for k = i-r..i+r
                for l = j+r..-1..j-r
                    s += x[k,l]
                end
            end
            y[i,j] = s
        end
    end
end
% the same in other words
function [s, low, high, count] = neighbours(x, i, j, r, inside)
    [s, low, high, count] = [0, 1e9, -1e9, 0]
    for k = -r..r
        for l = -r..r
            if i+k >= 0 && i+k < size(x,0) && j+l >= 0 && j+l < size(x,1)
                v = x[i+k,j+l]
                s += v
                low = min(low, v)
                high = max(high, v)
                count += 1
            end
        end
    end
    if inside && count < (2*r+1)^2
        s = 0
    end
end
function ok = check(n, m, r)
    x = mod(reshape((0..n*m-1)*37, [n,m]), 101) - 40 % small integers: every order of a sum has the same bits
    [a, b, c] = [with_slices(x,r,0), with_slices(x,r,1), with_slices(x,r,2)]
    [d, e, f, g] = [with_extremes(x,r), with_loops(x,r), unclipped(x,r), with_clamped_indices(x,r)]
    ok = true
    for i = 0..n-1
        for j = 0..m-1
            [s, low, high, count] = neighbours(x, i, j, r, false)
            u = neighbours(x, i, j, r, true)
            t = 0
            for k = -r..r
                p = clamp(i+k, 0, n-1)
                q = clamp(j+2*k, 0, m-1)
                t += x[p,q] + x[i,clamp(j-1,0,m-1)]
            end
            ok = ok && a[i,j] == s && abs(b[i,j] - s/count) < 1e-5 && c[i,j] == high - low && d[i,j] == high
            ok = ok && e[i,j] == s && f[i,j] == u && g[i,j] == t
        end
    end
end
for r = 0..3
    print r, ": ", check(2, 3, r), check(3, 2, r), check(5, 70, r), check(40, 9, r), check(33, 65, r)
end
% ranges that begin elsewhere, or run backwards; bounds that are far away
function [a, b, c] = odd_ranges(x)
    n = numel(x)
    [a, b, c] = [zeros(n), zeros(n), zeros(n)]
    for i = 5..n-3
        a[i] = sum(x[max(2,i-4)..min(n-1,i+6)])
    end
    for i = n-1..-1..0
        b[i] = max(x[max(0,i-3)..min(n-1,i+3)])
    end
    for i = 0..n-1
        c[i] = sum(x[max(0,i-100)..min(n-1,i+100)]) + x[max(0,i-n)] + x[min(i,3)] + x[max(i,n-2)]
    end
end
x = mod((0..39)*37, 101)
[a, b, c] = odd_ranges(x)
print sum(a), " ", sum(b), " ", sum(c), " ", a[5], " ", a[37], " ", b[0], " ", b[39], " ", c[0], " ", c[39]
% there may be no elements
function y = reversed(x, r)
    y = zeros(numel(x))
    for i = 0..numel(x)-1
        y[i] = max(x[max(0,i-r)..min(numel(x)-1,i+r)])
    end
end
print reversed(x, 1)[20..22]
try
    y = reversed(x, -1)
catch e
    print e
end
