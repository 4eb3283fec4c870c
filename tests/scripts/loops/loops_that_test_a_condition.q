% options: --loops always --explain
function i = first(x, v)
    for i=0..numel(x)-1
        if x[i] == v
            return
        end
    end
    i = -1
end
function [c, d] = prime(n)
    c = true
    d = 2
    while d*d <= n
        if mod(n,d) == 0
            c = false
            return
        end
        d += 1
    end
    d = 0
end
x = (0..9)*2
print first(x, 8), " ", first(x, 7), " ", first(x, 0)
for n=[2,9,35,97]
    [c,d] = prime(n)
    print n, " ", c, " ", d
end
% the values of variables after a loop that ends by break
k = 0
s = 0
while true
    k += 1
    if mod(k,2) == 0
        continue
    end
    if k > 20
        break
    end
    s += k
    last = k
end
print s, " ", k, " ", last
repeat
    k -= 1
    if k == 3
        break
    end
    q = k
until k <= 0
print k, " ", q
for j=0..9
    if j == 4
        break
    end
end
print j
% nested loops, and a loop without iterations
total = 0
while total < 100
    m = 5
    repeat
        m -= 1
        for r=0..3
            if r > m
                break
            end
            total += r
        end
    until m == 0
    while m > 0
        total = -1
    end
end
print total, " ", m, " ", r
while x[0] > 0
    x[0] -= 1
end
print x[0]
