% options: --loops always
% real(x) and similar functions of truth values give truth values, and results of small integers saturate in an
% expression as they do in operators applied one by one.
t = [1,0,1] > 0
x = [10,20,30]
print x[real(t)], x[conj(t)], type(real(t))
print nextpow2(uint8([200,3])) + 1, abs(int8([-128,5])) + 1
y = abs(int8([-128,5]))
print sum(y), sum(nextpow2(uint8([200,3])))
z = int([0,0,0])
a = int([0,1,5])
r = zeros(3)
for i = 0..2
    r[i] = periodize(a[i], z[i])
end
print r
n = 400
s = int8(zeros(1,n))
for i = 0..n-1
    s[i] = int8(periodize(i,16)*100)
end
print s[0..5]
f = [1,1,0] > 0
print mod(t,f), type(mod(t,f))
print clamp(int([1,2]), int(3000000000))
try
    print clamp([1,2,4],[1,2])
catch e
    print e
end
