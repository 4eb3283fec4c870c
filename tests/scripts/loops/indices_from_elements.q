% options: --loops always
% All indices that are elements are tested in front of a loop that sums or stores elements at them; errors, and what was
% stored before them, stay as the program gives them.
function y = rows_of_eight(c, v, x, n)
    y = zeros(n)
    for i = 0..n-1
        s = 0
        for k = 8*i..8*i+7
            s += v[k]*x[c[k]]
        end
        y[i] = s
    end
end
function [] = rows(y, p, c, v, x)
    for i = 0..numel(p)-2
        s = 0
        for k = p[i]..p[i+1]-1
            s += v[k]*x[c[k]]
        end
        y[i] = s
    end
end
function [] = permute(z, x, c, d, n)
    for t = 1..n
        for k = 0..numel(c)-1
            z[k] = 2*x[c[d[k]]] + t
        end
    end
end
function [s, m, last] = extremes(x, c, n)
    s = 0
    m = -1
    for i = 0..n-1
        for k = 40..-1..i
            m = max(m, x[c[k]])
            s += x[c[k]]*x[c[k-i]]
            last = c[k]
        end
    end
end
function [] = in_order(x, c, n)
    for i = 0..n-1
        for k = 0..40
            x[c[k]] += x[c[k+i]]
        end
    end
end

n = 200
c = int(mod((0..8*n-1)*7919, n))
v = mod((0..8*n-1)*37, 64)/64
x = mod((0..n-1)*53, 128)/128
print sum(rows_of_eight(c, v, x, n)), " ", rows_of_eight(c, v, x, n)[0..3]
p = cumsum(int(mod((0..40)*23, 71)))
y = zeros(40)
rows(y, p, c, v, x)
print sum(y), " ", y[0..4]
d = int(mod((0..99)*3, 100))
z = zeros(100)
permute(z, x, c[0..99], d, 3)
print sum(z), " ", z[0..4]
[s, m, last] = extremes(x, c, 9)
print s, " ", m, " ", last
in_order(x, c, 3)
print sum(x)
for bad = {{3, -1}, {803, n}, {1599, n + 7}}
    e = c + 0
    e[bad[0]] = bad[1]
    y = -ones(40)
    z = -ones(100)
    for f = {() -> rows_of_eight(e, v, x, n), () -> rows(y, p, e, v, x), () -> permute(z, x, e[0..99], d, 3)}
        try
            f()
            print "no error"
        catch message
            print message
        end
    end
    print sum(y), " ", sum(z)
end
d[50] = 100
try
    permute(z, x, c[0..99], d, 3)
catch message
    print message
end
print sum(z)
