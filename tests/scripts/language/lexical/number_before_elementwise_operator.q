x = [1,2,4]
print 1./x
print 10.0.^x
print 1./(1+x)
print 2.*x
print 2.5.*x
p = 2
print 0.0..1/(2^p-1)..1.0
