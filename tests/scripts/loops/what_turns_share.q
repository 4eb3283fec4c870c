% options: --loops always
% tolerance: 1e-6
% The result equals serial execution, whatever the iterations share.
n = 1000
x = zeros(n)
x[0] = 1
for i=1..n-1
    x[i] = x[i-1]*0.5 + 1
end
print x[n-1]

y = 0..n-1
for i=0..n-2
    y[i] = y[i+1]
end
print y[0], " ", y[n-2], " ", y[n-1]

a = 0..n-1
b = a
for i=1..n-1
    a[i] = b[i-1] + 1
end
print a[n-1]

e = zeros(n)
for i=0..n/2-1
    e[2*i] = i
    e[2*i+1] = e[2*i] + 0.5
end
print e[n-1], " ", e[n-2]

m = zeros(20,20)
for i=0..19
    for j=0..19
        m[i,j] = i*20 + j
    end
end
for i=0..19
    for j=0..18
        m[j,i] = m[j+1,i]
    end
end
print sum(m)

g = zeros(10)
for i=0..n-1
    g[mod(i*7,10)] += i
end
print g

last = 0
for i=0..n-1
    if mod(i,37) == 0
        last = i
    end
end
print last

most = -1
place = -1
v = sin(0..n-1)
for i=0..n-1
    if v[i] > most
        most = v[i]
        place = i
    end
end
print place

top = v[0]
low = v[0]
total = 5
product = 1
for i=0..n-1
    top = max(top, v[i])
    if v[i] < low
        low = v[i]
    end
    total -= v[i]*v[i]
    product *= 1 + v[i]/n
end
printf("%.6f %.6f %.4f %.4f\n", top, low, total, product)
