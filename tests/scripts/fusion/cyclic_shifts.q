% devices: ref cpu opencl
% options: --loops always
% tolerance: 1e-6
% Cyclic shifts are read in place, and each expression is as with the shifted arrays under names of their own.
function d = around(x)
    d = circshift(x, [1,0]) + circshift(x, [-1,0]) + circshift(x, [0,1]) + circshift(x, [0,-1]) - 4*x
end
function r = named(x, y)
    a = circshift(x, [3,-2])
    b = circshift(y, -4, 1)
    _ = {a, b}
    c = a.*b
    _ = {c}
    r = c - x
end
function r = in_statements(x, y)
    c = circshift(x, [3,-2]).*circshift(y, -4, 1)
    r = c - x
end
x = reshape(mod((0..699)*7919, 1024)/1024, [20,35])
y = reshape(mod((0..699)*104729, 1001)/1001, [20,35])
print any(named(x, y) != in_statements(x, y))
s = around(x)
for i = -2..2
    for j = -1..1
        s += circshift(x, [i,j])
        s = s + 2*circshift(x, j, 1)
    end
end
print sum(s.^2)

v = 0..99
print sum((v + circshift(v, 3)).*v), " ", sum((v + circshift(v, [2,3])).*v), " ", sum(v.*circshift(v, -1000003))
print sum((v + circshift(v, -7, 1)).*v), " ", sum((v + circshift(v, -7, 0)).*v)
x += 0.5*circshift(x, 1)               % reads elements that it changes
t = zeros(22, 36)
t[1..20,1..35] = x + circshift(x, [2,3])
c = reshape(mod((0..2399)*7919, 1024)/1024, [20,30,4])
w = circshift(c, [1,2,3]) - c
rgb = circshift(c, [1,0])[:,:,0] + c[:,:,1].*c[:,:,2]
t[0..19,0..29] -= circshift(x, [0,1])[:,0..29] + x[:,0..29]
print sum(x.^2), " ", sum(t.^3), " ", sum(w.^2), " ", sum(rgb)

z = x > 0.3
m = (circshift(z, [1,0]) && !z) || circshift(z, -1)
print sum(m), " ", type(m)
column = transpose(0..19)
q = circshift(column, 1) + x + circshift(x[0,:], 3)
x[q > 10] = 0
print sum(q), " ", sum(x.*circshift(q, 1))

function s = flipped(s)
    s = copy(s)
    a = circshift(s, 1) + circshift(s, -1)
    f = s.*a > 0
    s[f] = -s[f]
    a = 2*circshift(s, 1)
    s += circshift(s, 2) + a
end
print sum(flipped(x - 0.5))
function r = wrong(x, k)
    try
        r = x + circshift(x, k)
    catch e
        r = e
    end
end
print wrong(x, 0.5)
print wrong(x, "no")
print wrong(x, [1,2,3])[0,0] == x[0,0] + circshift(x, [1,2])[0,0], " ", wrong(3, 1)
