% Lists with numbers beyond the range of float32, and ranges whose step has the wrong sign.
x = [1,2,3]
print x[-1..-1..0]
print 5..2..1, 1..2..5, 0..-1..-2
y = [1e300, 1, 1e-60]
print y, float64([1e300,1]), float64([[1e300,1]]*1), [3e38,1e-38], [1/0,0]
f = v -> [-1e300, v]
print f(2)
print float64(sum([1e300]))
