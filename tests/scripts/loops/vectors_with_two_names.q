% options: --loops always
% Names share an array: a change through one name is visible through the other.
v = [1,2,3]
for i=0..2
    w = v
    w[i] += 10
end
print v, w
p = [1,2]
q = p
for i=0..1
    p = p + [i,1]
    p[0] = 100 + i
end
print p, q
function y = same(x)
    y = x
end
for i=0..1
    a = [i,i]
    b = same(a)
    b[1] = 7
    c = [i,5]
    c[0] += 1
    c += a
end
print a, b, c
x = [1,2,3]
y = x
for i=0..2
    x[i] = 0
    y = y + 1
end
print x, y
