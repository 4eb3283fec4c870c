% options: --loops always
% Counters in while loops that count up or down by integers are integral; other growing variables need not be.
x = [5,3,8,1,9,2,7]
for i=1..6
    v = x[i]
    p = i
    while p > 0 && x[p-1] > v
        x[p] = x[p-1]
        p -= 1
    end
    x[p] = v
end
print x
n = 0
k = 0
while n < 40
    n += k < 6 ? 1 : 2
    k = k == 6 ? 0 : k + 1
    x[k] += n
end
print x, " ", n, " ", k
big = 1
steps = 0
while big < 1e30
    big = big*3 + 1
    steps += 1
end
printf("%.17g %d\n", big, steps)
half = 64
while half > 0.1
    half /= 2
end
print half
m = 3
try
    while true
        m -= 1
        x[m] = m
    end
catch e
    print e, " ", m
end
z = 1
while z > 0
    z -= 1
end
print 1/z, " ", 1/(-z)
