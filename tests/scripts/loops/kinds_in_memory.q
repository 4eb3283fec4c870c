% options: --no-warnings --loops always
% Elements are read as the host reads them, and narrowed when they are stored.
a = zeros(4)
b = uint8(zeros(4))
c = int(zeros(4))
for i=0..3
    a[i] = i/3
    b[i] = i*100 - 50.7
    c[i] = i*1e9*3
end
print a[1] == 1/3, " ", b, " ", c

t = 0
for i=0..3
    t = t + a[i]*b[i]
end
print t

m = uint8(zeros(2,2))
for [i,j]=0..[1,1]
    m[i,j] = 200
end
u = 0
for [i,j]=0..[1,1]
    u += m[i,j] + m[j,i]
end
print u

o = [true, false, true]
n = 0
for i=0..2
    if o[i]
        n += 1
    end
    o[i] = !o[i]
end
print n, " ", o
