% devices: ref cpu
% Expressions on large arrays run as one kernel; types, results and errors equal those of the single operators.
n = 2000000
few = 0..9
function [] = show(what : string, large, small)
    print what, ": ", type(large) == type(small), " ", large[3] == small[3], " ", small[3]
end

x = uint8(ones(n)*200)
y = uint8(ones(n)*100)
show("max of bytes", max(x,y) + max(y,y)*0.5, max(x[few],y[few]) + max(y[few],y[few])*0.5)

i = int(zeros(n))
t = 2.0
show("truth value", i + isnan(t) + i, i[few] + isnan(t) + i[few])

a = ones(n)*0.3
show("mod", mod(a,0.1) + 0*a, mod(a[few],0.1) + 0*a[few])
show("mod of large numbers", mod(a*3e9,7) + 0*a, mod(a[few]*3e9,7) + 0*a[few])

wide = int(5000000000)
try
    print (i + wide) + wide
catch e
    print e
end

rows = ones(1000,2000)
try
    print size(rows + rows/rows[0,:])
catch e
    print e
end
print size(rows + rows./rows[0,:])
