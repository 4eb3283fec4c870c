a = 1
a = "x" + a
print a
b = 5
b += "t"
print b
s = "abc"
t = s
s += "def"
print s, t
u = s + "0123456789012345678901234567890123456789012345678901234567890123456789"
w = u
u += "!"
u += "?"
print strlen(u) - strlen(w)
for i=1..3
  w = w + i
end
print strlen(w)
x : int = 7
x /= 2
print x
x += 0.9
print x
print int(7)/2, " ", int(7)*int(3), " ", type(int(7)*2.0), " ", type(int(7)*int(2))
try
  print int(9223372036854775807)*int(9223372036854775807)
catch e
  print e
end
q = true
print q + 1, type(q), type(1<2)
print 2^10, " ", 2^-1, " ", (-8)^(1/3)
m = [[1,2],[3,4]]
m += 1
print m
m *= m
print m
m[0,:] = [9,9]
print m
m[:,1] -= 1
print m
print m[1,1], m[:,0], m[0,:]
v = 0..5
v[2..3] = [20,30]
print v
v[v > 10] = 0
print v, v[v>3]
