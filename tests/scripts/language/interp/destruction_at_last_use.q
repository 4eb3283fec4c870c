% release: yes
% 4 GB of arrays are allocated in total; each is freed with its last reference.
function y = make(n)
    y = ones(n)
end
total = 0
for k = 1..1000
    x = make(1000000)
    y = x.*2 + x
    total += y[k]
    c = {x, y}
    c[0] = 0
    o = object()
    o.x = x
end
print total
