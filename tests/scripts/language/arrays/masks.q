a = [-3,2,-1,4]
print a[a < 0]
a[a < 0] = 0
print a
m = [[1,-2],[-3,4]]
m[m < 0] = 5
print m
print m[m > 4]
m[m > 4] *= 2
print m
b = [1,5,9]
b[b < 2 || b > 8] = [7,8]
print b
print numel(b[b > 100])
