% options: --explain --loops always
% exit: 3
% The report on each loop, with the reason.
x = 0..99
y = zeros(100)
for i=0..99
    y[i] = 2*x[i]
end
for i=1..99
    y[i] = y[i-1] + x[i]
end
for i=0..98
    y[x[i]] = 1
end
s = 0
for i=0..99
    s += y[i]
end
for i=0..1
    print i
end
t = 1
for i=1..99
    t = t*0.5 + x[i]
end
m = zeros(10,10)
for i=0..9
    for j=0..9
        m[i,j] = i + j
    end
end
exit(3)
