a = [1,2,3]
b = a
b[0] = 9
c = copy(a)
c[1] = 9
print a, c
d = a + 0
d[2] = 9
print a
s = a[0..1]
s[0] = 77
print a
