a = vec[uint8](3)
a[0] = 300
a[1] = -5
a[2] = 2.9
print a, " ", type(a)
b = a + a
print b, " ", type(b)
c = cube[int](2,2,2)
print type(c), " ", type(c[0,0,0])
d = mat[float64](1,2)
d[0,0] = 1/3
print type(d), " ", type(d + 1), " ", type(zeros(2) + 1), " ", type(d + zeros(2))
print type(ivec3), " ", type(vec3), " ", type([1,2] > 1)
e = vec[int16](2) + vec[int16](2)
print type(e)
x = vec[int](2)
x[:] = [7,8]
print x/2, " ", type(x/2), " ", type(x + int(1))
print type(vec[float16](2)), " ", vec[bfloat16](2)
